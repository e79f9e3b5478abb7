#include "gloveport/core/host/image.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr char kPngBytes[] = "\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR\0\0\x02\x80\0\0\x01\xE0\x08\x06\0\0\0";
constexpr std::string_view kPng(kPngBytes, sizeof(kPngBytes) - 1);

Value Bytes(std::string_view data) {
  const auto bytes = AsBytes(data);
  return Value(Value::Bytes(bytes.begin(), bytes.end()));
}

TEST(Image, PngHasTheSizeOfItsHeader) {
  const auto image = ReadImage(ImageKind::kPng, Bytes(kPng));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->data, kPng);
  EXPECT_EQ(image->width, 640u);
  EXPECT_EQ(image->height, 480u);
}

TEST(Image, TextIsBase64ButForSvg) {
  const auto image = ReadImage(ImageKind::kPng, Value(EncodeBase64(AsBytes(kPng)) + "\n"));
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->data, kPng);
  EXPECT_FALSE(ReadImage(ImageKind::kPng, Value("not base64!")));
  EXPECT_EQ(ReadImage(ImageKind::kSvg, Value("<svg/>"))->data, "<svg/>");
}

TEST(Image, OnlyWhatBeginsLikeOneIsAccepted) {
  std::string flat(kPng);
  flat[19] = flat[18] = '\0';  // width 0
  std::string wide(kPng);
  wide[16] = '\xFF';  // a width that PNG does not allow
  struct Case {
    ImageKind kind;
    std::string data;
    bool good;
  };
  const std::vector<Case> cases = {
      {ImageKind::kPng, std::string(kPng), true},
      {ImageKind::kPng, std::string(kPng.substr(0, 23)), false},
      {ImageKind::kPng, "GIF89a", false},
      {ImageKind::kPng, "", false},
      {ImageKind::kPng, " " + std::string(kPng), false},
      {ImageKind::kPng, flat, false},
      {ImageKind::kPng, wide, false},
      {ImageKind::kJpeg, "\xFF\xD8\xFF\xE0..", true},
      {ImageKind::kJpeg, "\xFF\xD8", false},
      {ImageKind::kJpeg, std::string(kPng), false},
      {ImageKind::kSvg, "<svg xmlns='x'></svg>", true},
      {ImageKind::kSvg, "\xEF\xBB\xBF<?xml version='1.0'?>\n<!-- a > b -->\n<!DOCTYPE svg>\n<svg>", true},
      {ImageKind::kSvg, "<!DOCTYPE svg [<!ENTITY a 'b'>]><svg>&a;</svg>", false},
      {ImageKind::kSvg, "<svgs>", false},
      {ImageKind::kSvg, "<svg", false},
      {ImageKind::kSvg, "<!-- <svg>", false},
      {ImageKind::kSvg, "<html><svg></svg></html>", false},
      {ImageKind::kSvg, "<svg>\xFF</svg>", false},
  };
  for (const Case& c : cases) {
    const auto image = ReadImage(c.kind, Bytes(c.data));
    EXPECT_EQ(image.has_value(), c.good) << EscapeForTerminal(c.data);
    if (!image) {
      EXPECT_NE(image.error().message.find(MimeTypeOf(c.kind)), std::string::npos);
    }
  }
  EXPECT_FALSE(ReadImage(ImageKind::kPng, Value(7)));
}

}  // namespace
}  // namespace gloveport
