// CodeStream: the texts "thought" and "code" out of a JSON object that arrives in pieces, while it is
// written. Only what is shown to a reader meanwhile: what runs is read from the whole text (ReadToolCall,
// ReadStructured).
//
// Total: of what is no such object, nothing is handed on. Not thread-safe.
#ifndef GLOVEPORT_CORE_MODEL_CODE_STREAM_H_
#define GLOVEPORT_CORE_MODEL_CODE_STREAM_H_

#include <string>
#include <string_view>

namespace gloveport {

class CodeStream {
 public:
  struct Pieces {
    std::string thought;
    std::string code;
  };

  // What `piece` adds to the two texts, in whole characters.
  Pieces Take(std::string_view piece);

 private:
  enum class State { kBefore, kBetween, kKey, kAfterKey, kValue, kText, kSkip, kEnd };

  void Step(char c);
  void StepOutside(char c);
  void StepText(char c);
  void StepEscape(char c);
  void StepSkip(char c);
  void EndText();
  void Put(std::string_view text);
  void PutUnit(unsigned unit);

  State state_ = State::kBefore;
  std::string key_;
  std::string out_;       // of the text that is being read
  std::string escape_;    // begun and not complete, with its backslash
  unsigned high_ = 0;     // a high surrogate that waits for its low one
  int depth_ = 0;         // of a value that is skipped
  bool quoted_ = false;   // within a text of a value that is skipped ...
  bool escaped_ = false;  // ... and behind a backslash
  Pieces pieces_;
};

}  // namespace gloveport

#endif  // GLOVEPORT_CORE_MODEL_CODE_STREAM_H_
