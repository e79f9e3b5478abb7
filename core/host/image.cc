#include "gloveport/core/host/image.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "gloveport/core/base/fd_io.h"
#include "gloveport/core/base/text.h"

namespace gloveport {
namespace {

constexpr std::string_view kJpegStart = "\xFF\xD8\xFF";
// The signature, then the length and name of the chunk that every PNG has first; width and height follow.
constexpr std::string_view kPngStart("\x89PNG\r\n\x1A\n\0\0\0\x0DIHDR", 16);
constexpr std::size_t kPngSizeEnd = kPngStart.size() + 8;
constexpr std::uint32_t kMaxPngSide = 0x7FFFFFFF;

std::uint32_t BigEndian(std::string_view four_bytes) {
  std::uint32_t number = 0;
  for (const char c : four_bytes) number = (number << 8) | static_cast<unsigned char>(c);
  return number;
}

bool ReadPngSize(Image& image) {
  const std::string_view data = image.data;
  if (!data.starts_with(kPngStart) || data.size() < kPngSizeEnd) return false;
  image.width = BigEndian(data.substr(kPngStart.size(), 4));
  image.height = BigEndian(data.substr(kPngStart.size() + 4, 4));
  return image.width > 0 && image.width <= kMaxPngSide && image.height > 0 && image.height <= kMaxPngSide;
}

// Takes `start` ... `end` off the front of `text`; false where it does not begin so.
bool SkipPart(std::string_view& text, std::string_view start, std::string_view end) {
  if (!text.starts_with(start)) return false;
  const auto at = text.find(end, start.size());
  if (at == std::string_view::npos) return false;
  text = Trim(text.substr(at + end.size()));
  return true;
}

// What may stand before the root element is skipped. A document type with declarations of its own is not
// understood, so that no entity is ever expanded by whoever opens the file.
bool BeginsLikeSvg(std::string_view text) {
  if (!IsValidUtf8(text)) return false;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  text = Trim(text);
  while (SkipPart(text, "<?", "?>") || SkipPart(text, "<!--", "-->") || SkipPart(text, "<!DOCTYPE", ">")) {
  }
  constexpr std::string_view kRoot = "<svg";
  return text.starts_with(kRoot) && text.size() > kRoot.size() &&
         std::string_view(" \t\r\n>/").find(text[kRoot.size()]) != std::string_view::npos;
}

bool BeginsAsItShould(Image& image) {
  switch (image.kind) {
    case ImageKind::kPng:
      return ReadPngSize(image);
    case ImageKind::kJpeg:
      return image.data.starts_with(kJpegStart);
    case ImageKind::kSvg:
      return BeginsLikeSvg(image.data);
  }
  return false;
}

std::optional<std::string> DataOf(ImageKind kind, const Value& form) {
  if (form.is_bytes()) return std::string(AsText(form.as_bytes()));
  if (!form.is_text()) return std::nullopt;
  if (kind == ImageKind::kSvg) return form.as_text();
  const auto decoded = DecodeBase64(Trim(form.as_text()));
  if (!decoded) return std::nullopt;
  return std::string(AsText(*decoded));
}

}  // namespace

std::string_view MimeTypeOf(ImageKind kind) {
  switch (kind) {
    case ImageKind::kPng:
      return "image/png";
    case ImageKind::kJpeg:
      return "image/jpeg";
    case ImageKind::kSvg:
      return "image/svg+xml";
  }
  return "";
}

std::string_view ExtensionOf(ImageKind kind) {
  switch (kind) {
    case ImageKind::kPng:
      return "png";
    case ImageKind::kJpeg:
      return "jpg";
    case ImageKind::kSvg:
      return "svg";
  }
  return "";
}

Result<Image> ReadImage(ImageKind kind, const Value& form) {
  auto data = DataOf(kind, form);
  Image image{.kind = kind, .data = data ? std::move(*data) : ""};
  if (data && BeginsAsItShould(image)) return image;
  return Fail(ErrorCode::kInvalidArgument,
              fmt::format("the code calls it {}, but its data are not", MimeTypeOf(kind)));
}

}  // namespace gloveport
