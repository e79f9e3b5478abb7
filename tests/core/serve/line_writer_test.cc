#include "gloveport/core/serve/line_writer.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <array>
#include <chrono>
#include <future>
#include <memory>
#include <string>

#include "gloveport/core/base/fd_io.h"

namespace gloveport {
namespace {

using std::chrono::seconds;

class LineWriterTest : public testing::Test {
 protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    pipe_ = std::move(*MakePipe());
  }
  void Start(std::size_t max_pending_bytes = 1u << 20) {
    auto created = LineWriter::Create(
        pipe_.write_end.get(), [this] { failed_.set_value(); }, max_pending_bytes);
    ASSERT_TRUE(created.has_value());
    writer_ = std::move(*created);
  }
  std::string Read(std::size_t size) {
    std::string text(size, '\0');
    EXPECT_TRUE(ReadFull(pipe_.read_end.get(), std::as_writable_bytes(std::span(text)),
                         Deadline::After(seconds(10))));
    return text;
  }
  bool WaitForFailure() { return failed_.get_future().wait_for(seconds(10)) == std::future_status::ready; }

  Pipe pipe_;
  std::promise<void> failed_;
  std::unique_ptr<LineWriter> writer_;
};

TEST_F(LineWriterTest, LinesArriveInOrder) {
  Start();
  writer_->Write("one");
  writer_->Write("two");
  EXPECT_TRUE(writer_->Flush(Deadline::After(seconds(10))));
  EXPECT_EQ(Read(8), "one\ntwo\n");
}

TEST_F(LineWriterTest, WriteDoesNotWaitForASlowReader) {
  Start();
  const std::string line(500'000, 'x');  // more than a pipe holds
  writer_->Write(line);                  // returns though nobody reads
  EXPECT_FALSE(writer_->Flush(Deadline::After(seconds(0))));
  EXPECT_EQ(Read(line.size() + 1), line + "\n");
  EXPECT_TRUE(writer_->Flush(Deadline::After(seconds(10))));
}

TEST_F(LineWriterTest, ReaderThatGoesWhileNothingIsWrittenIsNoticed) {
  Start();
  pipe_.read_end.reset();
  EXPECT_TRUE(WaitForFailure());
  EXPECT_TRUE(writer_->failed());
  writer_->Write("to nobody");
  EXPECT_FALSE(writer_->Flush(Deadline::After(seconds(10))));
}

TEST_F(LineWriterTest, ReaderThatLagsTooFarBehindCountsAsGone) {
  Start(1000);
  writer_->Write(std::string(200'000, 'x'));
  EXPECT_TRUE(WaitForFailure());
}

TEST_F(LineWriterTest, DestructionDropsWhatNobodyReads) {
  Start();
  writer_->Write(std::string(500'000, 'x'));
  EXPECT_EQ(Read(1), "x");  // it is in the middle of the line
  writer_.reset();          // must not wait
}

}  // namespace
}  // namespace gloveport
