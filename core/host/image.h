// Image: what a display claims to be an image, looked at before anything is done with it. Pure functions.
//
// The data come from model code. A program that opens an image by its name trusts its first bytes, so these
// are checked here; nothing is decoded.
#ifndef GLOVEPORT_CORE_HOST_IMAGE_H_
#define GLOVEPORT_CORE_HOST_IMAGE_H_

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"

namespace gloveport {

enum class ImageKind { kPng, kJpeg, kSvg };
inline constexpr std::array kImageKinds = {ImageKind::kPng, ImageKind::kJpeg, ImageKind::kSvg};

std::string_view MimeTypeOf(ImageKind kind);   // "image/png"
std::string_view ExtensionOf(ImageKind kind);  // "png"

struct Image {
  ImageKind kind = ImageKind::kPng;
  std::string data;
  std::uint32_t width = 0;  // in pixels; 0 for what is no PNG
  std::uint32_t height = 0;
};

// An image of this kind from the value that a display has under its MIME type: bytes, or text: SVG itself,
// the others in base64, as notebooks write them. kInvalidArgument for what does not begin like such an image.
Result<Image> ReadImage(ImageKind kind, const Value& form);

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_HOST_IMAGE_H_
