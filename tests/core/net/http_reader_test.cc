#include "gloveport/core/net/http_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gloveport {
namespace {

using testing::HasSubstr;

// Hands out a text in pieces of a given size.
class TextStream : public ByteStream {
 public:
  TextStream(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
  Result<std::size_t> Read(std::span<char> buffer) override {
    const std::size_t n = std::min({piece_, buffer.size(), text_.size() - at_});
    std::copy_n(text_.data() + at_, n, buffer.data());
    at_ += n;
    return n;
  }
  Status Write(std::string_view) override { return {}; }

 private:
  std::string text_;
  std::size_t piece_;
  std::size_t at_ = 0;
};

Result<HttpResponse> Read(std::string text, std::size_t piece = 4096, std::size_t max_bytes = 1000,
                          std::string_view method = "GET") {
  TextStream stream(std::move(text), piece);
  HttpReader reader(stream);
  ASSIGN_OR_RETURN(auto response, reader.ReadHead());
  RETURN_IF_ERROR(reader.ReadBody(method, response, max_bytes, [&](std::string_view part) -> Status {
    response.body.append(part);
    return {};
  }));
  return response;
}

TEST(HttpReader, ReadsEveryFramingInPiecesOfAnySize) {
  static constexpr const char* kCases[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello worldXX",
      "HTTP/1.1 200 OK\r\ncontent-length:11\r\nContent-Length: 11\r\n\r\nhello world",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n00B;ext=1\r\nhello world\r\n0\r\nTrailer: "
      "x\r\n\r\n",
      "HTTP/1.0 200\r\n\r\nhello world",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nhello world",
  };
  for (const char* text : kCases) {
    for (const std::size_t piece : {1u, 2u, 3u, 7u, 4096u}) {
      SCOPED_TRACE(testing::Message() << text << " by " << piece);
      const auto response = Read(text, piece);
      ASSERT_TRUE(response.has_value()) << response.error().message;
      EXPECT_EQ(response->status, 200);
      EXPECT_EQ(response->body, "hello world");
    }
  }
}

TEST(HttpReader, KeepsFieldsInOrderAndTrimmed) {
  const auto response = Read("HTTP/1.1 204 No\r\nA:  1 \r\nb: \r\nA: 2\r\n\r\n");
  ASSERT_TRUE(response.has_value());
  EXPECT_EQ(response->headers, (HttpHeaders{{"A", "1"}, {"b", ""}, {"A", "2"}}));
}

TEST(HttpReader, AnswersWithoutABodyEndWithTheirHead) {
  EXPECT_EQ(Read("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\n").value().body, "");
  EXPECT_EQ(Read("HTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n").value().body, "");
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", 9, 1000, "HEAD").value().body, "");
}

TEST(HttpReader, FaultsHaveTheirCode) {
  struct Case {
    std::string text;
    ErrorCode code;
    const char* message;
  };
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const Case cases[] = {
      {"", ErrorCode::kIo, "closed the connection without an answer"},
      {"HTTP/1.1 200 OK\r\nConte", ErrorCode::kIo, "within the head"},
      {ok + "Content-Length: 9\r\n\r\nabc", ErrorCode::kIo, "after 3 of 9 bytes"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n9\r\nabc", ErrorCode::kIo, "after 3 of 9 bytes"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", ErrorCode::kIo, "in the middle of the answer"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n", ErrorCode::kIo,
       "in the middle of the answer"},
      {"SSH-2.0-OpenSSH_9.2\r\n", ErrorCode::kProtocol, "begins with \"SSH-2"},
      {"HTTP/2 200\r\n\r\n", ErrorCode::kProtocol, "HTTP/2"},
      {"HTTP/1.1 20 OK\r\n\r\n", ErrorCode::kProtocol, "begins with"},
      {"HTTP/1.1 2000 OK\r\n\r\n", ErrorCode::kProtocol, "begins with"},
      {"HTTP/1.1 101 Switch\r\n\r\n", ErrorCode::kProtocol, "another protocol"},
      {ok + "no field\r\n\r\n", ErrorCode::kProtocol, "no header field"},
      {ok + "bad name: x\r\n\r\n", ErrorCode::kProtocol, "no header field"},
      {ok + "A: x\n\x01\r\n\r\n", ErrorCode::kProtocol, "no header field"},
      {ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", ErrorCode::kProtocol, "Content-Length"},
      {ok + "Content-Length: -1\r\n\r\n", ErrorCode::kProtocol, "Content-Length"},
      {ok + "Content-Length: 99999999999999999999\r\n\r\n", ErrorCode::kProtocol, "Content-Length"},
      {ok + "Transfer-Encoding: gzip, chunked\r\n\r\n", ErrorCode::kProtocol, "Transfer-Encoding"},
      {ok + "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n", ErrorCode::kProtocol,
       "Transfer-Encoding"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nxyz\r\n", ErrorCode::kProtocol, "no size of a chunk"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n", ErrorCode::kProtocol, "no size of a chunk"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n", ErrorCode::kProtocol, "longer than its size"},
      {ok + "Content-Length: 1001\r\n\r\n", ErrorCode::kResourceExhausted, "answer of 1001 bytes"},
      {ok + "\r\n" + std::string(1001, 'x'), ErrorCode::kResourceExhausted, "1000 bytes"},
      {ok + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", ErrorCode::kResourceExhausted,
       "1000 bytes"},
      {ok + "Transfer-Encoding: chunked\r\n\r\n3E8\r\n" + std::string(1000, 'x') + "\r\n1\r\nx\r\n0\r\n\r\n",
       ErrorCode::kResourceExhausted, "1000 bytes"},
  };
  for (const Case& c : cases) {
    for (const std::size_t piece : {1u, 4096u}) {
      SCOPED_TRACE(testing::Message() << c.text.substr(0, 80) << " by " << piece);
      const auto response = Read(c.text, piece);
      ASSERT_FALSE(response.has_value());
      EXPECT_EQ(ErrorCodeName(response.error().code), ErrorCodeName(c.code));
      EXPECT_THAT(response.error().message, HasSubstr(c.message));
    }
  }
}

TEST(HttpReader, BodyOfExactlyTheLimitIsTaken) {
  EXPECT_EQ(
      Read("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + std::string(1000, 'x')).value().body.size(),
      1000u);
  EXPECT_EQ(Read("HTTP/1.1 200 OK\r\n\r\n" + std::string(1000, 'x')).value().body.size(), 1000u);
}

TEST(HttpReader, HeadsHaveALimit) {
  const auto too_large = [](const std::string& text) {
    const auto response = Read(text);
    return !response && response.error().code == ErrorCode::kResourceExhausted;
  };
  EXPECT_TRUE(too_large("HTTP/1.1 200 " + std::string(1'000'000, 'a') + "\r\n\r\n"));
  EXPECT_TRUE(too_large("HTTP/1.1 200 OK\r\nX: " + std::string(1'000'000, 'a') + "\r\n\r\n"));
  EXPECT_EQ(Read("HTTP/1.1 200 " + std::string(60'000, 'a') + "\r\n\r\nbody").value().body, "body");
  std::string fields = "HTTP/1.1 200 OK\r\n";
  for (std::size_t i = 0; i < HttpReader::kMaxFields; ++i) fields += "A: b\r\n";
  EXPECT_TRUE(Read(fields + "\r\n").has_value());
  EXPECT_FALSE(Read(fields + "A: b\r\n\r\n").has_value());
}

TEST(HttpReader, InterimAnswersDoNotGoOnForEver) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "HTTP/1.1 100 Continue\r\n\r\n";
  const auto response = Read(text + "HTTP/1.1 200 OK\r\n\r\n");
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().code, ErrorCode::kProtocol);
}

TEST(HttpReader, DamagedAnswersStayWithinTheLimits) {
  const std::string texts[] = {
      "HTTP/1.1 200 OK\r\nContent-Length: 11\r\nA: b\r\n\r\nhello world",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\nT: "
      "r\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 OK\r\n\r\nhello world",
  };
  std::mt19937 random(7);
  int answers = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = texts[random() % 3];
    for (unsigned change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, 1 + random() % 4);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 16));
          break;
        case 3:
          text.resize(at);
          break;
      }
      if (text.empty()) text = "\r";
    }
    const auto response = Read(text, 1 + random() % 16, 64);
    if (!response) continue;
    ++answers;
    EXPECT_LE(response->body.size(), 64u);
    EXPECT_GE(response->status, 200);
  }
  EXPECT_GT(answers, 100);  // damage does not always matter
}

TEST(HttpReader, ControlSequencesInGarbageAreMadeVisible) {
  const auto response = Read("\x1b[2J\x1b[H pwned");
  ASSERT_FALSE(response.has_value());
  EXPECT_EQ(response.error().message.find('\x1b'), std::string::npos);
  EXPECT_THAT(response.error().message, HasSubstr("\\x1b"));
}

}  // namespace
}  // namespace gloveport
