#include "gloveport/core/cli/display_printer.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "gloveport/core/cli/report.h"
#include "gloveport/core/host/display_marks.h"

namespace gloveport {
namespace {

constexpr std::string_view kPlain = "text/plain";

// Markdown first: beside it, the plain text is no more than a repr.
const Value* TextOf(const Value& bundle) {
  for (const std::string_view type : {std::string_view("text/markdown"), kPlain}) {
    const Value* text = bundle.Find(type);
    if (text != nullptr && text->is_text()) return text;
  }
  return nullptr;
}

// Forms that neither the text nor an image file stands for: a PDF, JSON, a GIF.
bool HasOtherForms(const Value& bundle) {
  return std::ranges::any_of(bundle.as_map(), [](const auto& form) {
    if (!form.first.is_text()) return true;
    const std::string_view type = form.first.as_text();
    return !type.starts_with("text/") && !IsDisplayMark(type) &&
           std::ranges::none_of(kImageKinds, [&](ImageKind kind) { return MimeTypeOf(kind) == type; });
  });
}

// The trailing value is displayed last, with its repr as plain text, and only where it has more than that.
const Value* DisplayOfValue(const CellResult& result, std::string_view value_line) {
  if (value_line.empty()) return nullptr;
  for (auto at = result.displays.rbegin(); at != result.displays.rend(); ++at) {
    if (at->is_map() && at->as_map().size() > 1 && at->TextOr(kPlain, "") == value_line) return &*at;
  }
  return nullptr;
}

std::string DescribeImage(const Image& image) {
  const std::string bytes = DescribeBytes(image.data.size());
  return image.width == 0 ? bytes : fmt::format("{} x {}, {}", image.width, image.height, bytes);
}

}  // namespace

DisplayPrinter::DisplayPrinter(Console& console, FigureFolder& folder) : console_(console), folder_(folder) {}

void DisplayPrinter::Print(const CellResult& result, std::string_view value_line) {
  const ImageProtocol protocol =
      console_.notes_on_terminal() ? ImageProtocolOf(TerminalNames::FromEnvironment()) : ImageProtocol::kNone;
  const Value* const value = DisplayOfValue(result, value_line);
  for (const Value& bundle : result.displays) {
    if (!bundle.is_map() || HasOnlyMarks(bundle)) continue;
    const bool has_image = SaveImagesOf(bundle, protocol);
    const Value* const text = TextOf(bundle);
    const bool told_by_value_line = &bundle == value && text != nullptr && text->as_text() == value_line;
    if (text != nullptr && !has_image && !told_by_value_line) PrintText(*text);
    if (HasOtherForms(bundle) || (text == nullptr && !has_image))
      console_.Note(DescribeDisplay(bundle), Style::kDim);
  }
}

void DisplayPrinter::SaveImages(const CellResult& result) {
  for (const Value& bundle : result.displays) SaveImagesOf(bundle, ImageProtocol::kNone);
}

bool DisplayPrinter::SaveImagesOf(const Value& bundle, ImageProtocol protocol) {
  const int before = figures_;
  for (const ImageKind kind : kImageKinds) {
    if (const Value* form = bundle.Find(MimeTypeOf(kind))) SaveImage(kind, *form, protocol);
  }
  return figures_ > before;
}

void DisplayPrinter::SaveImage(ImageKind kind, const Value& form, ImageProtocol protocol) {
  ++figures_;
  const auto image = ReadImage(kind, form);
  const auto path = image ? folder_.Save(*image) : tl::unexpected<Error>(image.error());
  if (image) {
    const std::string shown = TerminalSequence(protocol, *image, TerminalSizeOf(STDERR_FILENO));
    if (!shown.empty()) console_.Note(shown);
  }
  if (path) {
    console_.Note(fmt::format("figure {}: {}, {}", figures_, Console::Safe(*path), DescribeImage(*image)));
  } else {
    all_saved_ = false;
    console_.Note(fmt::format("figure {} was not saved: {}", figures_, Console::Safe(path.error().message)),
                  Style::kWarning);
  }
}

// Like the output of the cell itself: as it is for a program, with control characters made visible on a
// terminal.
void DisplayPrinter::PrintText(const Value& text) {
  console_.StreamData(text.as_text());
  if (!text.as_text().ends_with('\n')) console_.StreamData("\n");
  console_.EndStream();
}

}  // namespace gloveport
