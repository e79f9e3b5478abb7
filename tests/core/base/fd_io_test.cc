#include "gloveport/core/base/fd_io.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <filesystem>

namespace gloveport {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

TEST(FdIo, AnEndOfFileBeforeTheFirstByteIsClosedAndLaterIsAProtocolError) {
  auto pipe = MakePipe();
  ASSERT_TRUE(pipe);
  ASSERT_TRUE(WriteFull(pipe->write_end.get(), AsBytes("ab"), Deadline::Never()));
  pipe->write_end.reset();
  std::array<std::byte, 4> buffer{};
  auto cut = ReadFull(pipe->read_end.get(), buffer, Deadline::Never());
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().code, ErrorCode::kProtocol);
  auto end = ReadFull(pipe->read_end.get(), buffer, Deadline::Never());
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, ErrorCode::kClosed);
}

TEST(FdIo, ReadingGivesUpAtTheDeadline) {
  auto pipe = MakePipe();
  std::array<std::byte, 1> buffer{};
  const auto status = ReadFull(pipe->read_end.get(), buffer, Deadline::After(milliseconds(1)));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kDeadlineExceeded);
}

TEST(FdIo, WritingToAReaderThatHasGoneIsAnErrorAndNoSignal) {
  auto pair = MakeSocketPair();
  pair->second.reset();
  const auto status = WriteFull(pair->first.get(), AsBytes("x"), Deadline::Never());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kClosed);
}

TEST(FdIo, PassesDescriptorsAndRefusesMoreThanWereAskedFor) {
  auto pair = MakeSocketPair();
  auto pipe = MakePipe();
  const std::array<int, 2> fds = {pipe->read_end.get(), pipe->write_end.get()};
  ASSERT_TRUE(SendWithFds(pair->first.get(), AsBytes("m"), fds));
  auto received = ReceiveWithFds(pair->second.get(), 16, 2, Deadline::After(milliseconds(1000)));
  ASSERT_TRUE(received);
  EXPECT_EQ(received->bytes, "m");
  ASSERT_EQ(received->fds.size(), 2u);
  ASSERT_TRUE(WriteFull(received->fds[1].get(), AsBytes("hi"), Deadline::Never()));
  std::string text;
  ASSERT_TRUE(SetNonBlocking(pipe->read_end.get()));
  ASSERT_TRUE(ReadAvailable(pipe->read_end.get(), 16, text));
  EXPECT_EQ(text, "hi");

  ASSERT_TRUE(SendWithFds(pair->first.get(), AsBytes("m"), fds));
  received = ReceiveWithFds(pair->second.get(), 16, 1, Deadline::After(milliseconds(1000)));
  ASSERT_FALSE(received);
  EXPECT_EQ(received.error().code, ErrorCode::kProtocol);
}

TEST(FdIo, FilesTellWhatIsWrongWithThem) {
  const auto missing = ReadFile("/no/such/file");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message, HasSubstr("/no/such/file"));
  const auto folder = ReadFile("/");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().message, HasSubstr("directory"));
  const auto endless = ReadFile("/dev/zero", 1000);
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().code, ErrorCode::kResourceExhausted);
}

TEST(Deadline, NeverStaysFarAndPastIsPast) {
  EXPECT_EQ(Deadline::Never().poll_timeout_ms(), -1);
  EXPECT_FALSE(Deadline::After(std::chrono::nanoseconds::max()).passed());
  EXPECT_TRUE(Deadline::After(milliseconds(0)).passed());
  EXPECT_EQ(Deadline::After(milliseconds(-5)).left().count(), 0);
  EXPECT_EQ(Deadline::After(std::chrono::microseconds(10)).poll_timeout_ms(), 1);
}

}  // namespace
}  // namespace gloveport
