// BindFunction: a Tool from a plain C++ function, lambda, std::function or other function object.
//
//   double ContactCost(int contacts, const std::string& channel);
//
//   auto tool = BindFunction("contact_cost", "Cost in EUR of that many contacts", &ContactCost,
//                            {Arg("contacts", "number of contacts"), Arg("channel", "how", "cellular")});
//
// makes contact_cost(contacts: int, channel: str = 'cellular') -> float. tool_type.h and array_type.h list
// the types; a type that is not among them is a compile-time error that says so. Parameters are taken by
// value, const reference or rvalue reference. A first or last parameter CallContext& is not an argument: it
// gets the running call. After the arguments may come a ToolReply<T>, by which the answer is given later.
//
// Result: any of the types, void, Result<T> (Status) where the function can fail, a std::future (reply.h) or
// a ToolTask of these (task.h: the function is a coroutine), or a ToolStream<T> (stream.h). An Error goes to
// the cell as it is; an exception becomes kInternal with its what(). The tool may be called from several
// threads at once, so a function object with state must be able to bear that.
#ifndef GLOVEPORT_TOOLS_BINDING_H_
#define GLOVEPORT_TOOLS_BINDING_H_

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "gloveport/core/base/result.h"
#include "gloveport/core/wire/value.h"
#include "gloveport/tools/array_type.h"
#include "gloveport/tools/enum_type.h"
#include "gloveport/tools/reply.h"
#include "gloveport/tools/stream.h"
#include "gloveport/tools/struct_type.h"
#include "gloveport/tools/time_type.h"
#include "gloveport/tools/tool.h"
#include "gloveport/tools/tool_type.h"
#include "gloveport/tools/variant_type.h"

namespace gloveport {

// What else may be said of a tool; see ToolSpec.
struct ToolOptions {
  bool is_async = false;
  std::optional<std::chrono::milliseconds> timeout;
  bool is_quick = false;
  bool waits_for_person = false;
  std::optional<std::uint32_t> max_calls_per_cell;
};

// Name, meaning and, where the argument may be left out, default of a parameter, in the order of the C++
// function's. Parameters of type std::optional at the end need no default: it is None.
struct Arg {
  explicit Arg(std::string_view arg_name, std::string_view arg_description = "")
      : name(arg_name), description(arg_description) {}
  template <typename T>
  Arg(std::string_view arg_name, std::string_view arg_description, const T& default_argument)
      : name(arg_name), description(arg_description), default_value(DefaultValue(default_argument)) {}

  std::string name;
  std::string description;
  std::optional<Value> default_value;

 private:
  template <typename T>
  static Value DefaultValue(const T& value) {
    if constexpr (std::is_same_v<T, std::nullopt_t> || std::is_same_v<T, std::nullptr_t>) {
      return Value();
    } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
      return ToolType<std::string_view>::ToValue(value);
    } else {
      return ToolType<T>::ToValue(value);
    }
  }
};

namespace binding_internal {

template <typename... T>
struct Types {};

// The signature of a callable: Result and Parameters. Without them for what has none (a generic lambda, for
// example).
template <typename F, typename = void>
struct Signature {};
template <typename R, typename... A>
struct Signature<R (*)(A...)> {
  using Result = R;
  using Parameters = Types<A...>;
};
template <typename R, typename... A>
struct Signature<R (*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...)> : Signature<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...) const> : Signature<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...) noexcept> : Signature<R (*)(A...)> {};
template <typename C, typename R, typename... A>
struct Signature<R (C::*)(A...) const noexcept> : Signature<R (*)(A...)> {};
template <typename F>
struct Signature<F, std::void_t<decltype(&F::operator())>> : Signature<decltype(&F::operator())> {};

template <typename F>
concept HasSignature = requires {
  typename Signature<F>::Parameters;
};

template <typename T>
inline constexpr bool kIsContext = std::is_same_v<std::remove_cvref_t<T>, CallContext>;

// The parameters without the CallContext at either end.
template <typename Done, typename... Rest>
struct DropLast;
template <typename... Done>
struct DropLast<Types<Done...>> {
  using Arguments = Types<Done...>;
  static constexpr bool kContextLast = false;
};
template <typename... Done, typename Last>
struct DropLast<Types<Done...>, Last> {
  using Arguments = std::conditional_t<kIsContext<Last>, Types<Done...>, Types<Done..., Last>>;
  static constexpr bool kContextLast = kIsContext<Last>;
};
template <typename... Done, typename First, typename Second, typename... Rest>
struct DropLast<Types<Done...>, First, Second, Rest...> : DropLast<Types<Done..., First>, Second, Rest...> {};

template <typename Parameters>
struct SplitContext : DropLast<Types<>> {
  static constexpr bool kContextFirst = false;
};
template <typename First, typename... Rest>
struct SplitContext<Types<First, Rest...>>
    : std::conditional_t<kIsContext<First>, DropLast<Types<>, Rest...>, DropLast<Types<>, First, Rest...>> {
  static constexpr bool kContextFirst = kIsContext<First>;
};

template <typename R>
struct ResultOf {
  using Type = std::remove_cvref_t<R>;
  static constexpr bool kCanFail = false;
};
template <typename T>
struct ResultOf<Result<T>> {
  using Type = T;
  static constexpr bool kCanFail = true;
};
template <typename T>
struct ResultOf<std::future<T>> : ResultOf<T> {};

template <typename T>
inline constexpr bool kIsResult = false;
template <typename T>
inline constexpr bool kIsResult<Result<T>> = true;
template <typename T>
inline constexpr bool kIsFuture = false;
template <typename T>
inline constexpr bool kIsFuture<std::future<T>> = true;
template <typename T>
inline constexpr bool kIsStream = false;
template <typename T>
inline constexpr bool kIsStream<ToolStream<T>> = true;
template <typename T>
inline constexpr bool kIsTask = false;  // task.h says otherwise
template <typename T>
inline constexpr bool kIsReply = false;
template <typename T>
inline constexpr bool kIsReply<ToolReply<T>> = true;

// The arguments without the ToolReply at the end, and its type; void where there is none.
template <typename Done, typename... Rest>
struct SplitReply;
template <typename... Done>
struct SplitReply<Types<Done...>> {
  using Arguments = Types<Done...>;
  using Reply = void;
};
template <typename... Done, typename Last>
struct SplitReply<Types<Done...>, Last> {
  using Plain = std::remove_cvref_t<Last>;
  using Arguments = std::conditional_t<kIsReply<Plain>, Types<Done...>, Types<Done..., Last>>;
  using Reply = std::conditional_t<kIsReply<Plain>, Plain, void>;
};
template <typename... Done, typename First, typename Second, typename... Rest>
struct SplitReply<Types<Done...>, First, Second, Rest...>
    : SplitReply<Types<Done..., First>, Second, Rest...> {};
template <typename Parameters>
struct ReplyOf;
template <typename... P>
struct ReplyOf<Types<P...>> : SplitReply<Types<>, P...> {};

// A parameter or result as the spec shows it.
struct TypeDoc {
  std::string annotation;
  std::string description;  // of a struct's fields; empty for everything else
  Value schema;
  bool optional = false;
  std::function<Status(const Value&, const ValuePlace&)> check;  // whether a default fits
};

template <typename T>
TypeDoc DocOf() {
  TypeDoc doc;
  if constexpr (std::is_void_v<T>) {
    doc.annotation = "None";
  } else if constexpr (kIsStream<T>) {
    doc = DocOf<typename T::Item>();
    doc.annotation = "Iterator[" + doc.annotation + "]";
    doc.schema = tool_type_internal::ArraySchema(std::move(doc.schema));
  } else {
    doc = {ToolType<T>::Annotation(), "", ToolType<T>::Schema(), tool_type_internal::kIsOptional<T>, nullptr};
    doc.description = tool_type_internal::KeysOf<T>::Text();
  }
  return doc;
}

template <typename T>
TypeDoc ParameterDocOf() {
  TypeDoc doc = DocOf<T>();
  doc.check = [](const Value& value, const ValuePlace& place) -> Status {
    RETURN_IF_ERROR(ToolType<T>::FromValue(value, place));
    return {};
  };
  return doc;
}

// kInvalidArgument where args and parameters do not fit.
Result<ToolSpec> MakeSpec(std::string_view name, std::string_view description, std::vector<Arg> args,
                          const std::vector<TypeDoc>& parameters, const TypeDoc& result);
// The exception being handled, as an error.
Error ErrorOfException(std::string_view tool);
const Value& ArgumentOrNone(const Arguments& arguments, std::string_view name);

// What a ToolReply answers with, in the form of ResultOf.
template <typename Reply>
struct ReplyItem {};
template <typename T>
struct ReplyItem<ToolReply<T>> {
  using type = ResultOf<T>;
};

template <typename F, typename Parameters, typename Reply>
class FunctionTool;

template <typename F, typename... A, typename Reply>
class FunctionTool<F, Types<A...>, Reply> final : public Tool {
  using Split = SplitContext<typename Signature<F>::Parameters>;
  using R = typename Signature<F>::Result;

  static_assert((!kIsReply<std::remove_cvref_t<A>> && ...),
                "Gloveport: ToolReply must come after the arguments");
  static_assert(std::is_void_v<Reply> || std::is_void_v<R>,
                "Gloveport: a function that answers by a ToolReply returns nothing");

  static_assert((!kIsContext<A> && ...), "Gloveport: CallContext& must be the first or the last parameter");
  static_assert(((!std::is_lvalue_reference_v<A> || std::is_const_v<std::remove_reference_t<A>>)&&...),
                "Gloveport: a tool cannot change its arguments: take them by value or const reference");

 public:
  FunctionTool(ToolSpec spec, F function)
      : spec_(std::move(spec)), function_(std::make_shared<F>(std::move(function))) {
    if (spec_.is_stream) streams_ = std::make_shared<ValueStreams>();
  }

  const ToolSpec& spec() const override { return spec_; }

  gloveport::Result<Value> Call(const Arguments& arguments, CallContext& context) override {
    constexpr auto kAll = std::index_sequence_for<A...>();
    if constexpr (kIsTask<R>) {
      const auto kept = std::make_shared<Kept>(function_, arguments);
      return Answer(kept->taken.emplace(Take(kept->arguments, kAll)), context, kept, kAll);
    } else {
      Taken taken = Take(arguments, kAll);
      return Answer(taken, context, nullptr, kAll);
    }
  }

  std::shared_ptr<Tool> continuation() const override {
    return streams_ ? MakeContinuation(spec_.name, streams_) : nullptr;
  }

 private:
  using Taken = std::tuple<gloveport::Result<std::remove_cvref_t<A>>...>;

  // What a coroutine works with: it may go on after its call, and after the tool.
  struct Kept {
    Kept(std::shared_ptr<F> callable, Arguments given)
        : function(std::move(callable)), arguments(std::move(given)) {}
    std::shared_ptr<F> function;
    Arguments arguments;  // that views in `taken` point into
    std::optional<Taken> taken;
  };

  template <std::size_t... kIndex>
  Taken Take(const Arguments& arguments, std::index_sequence<kIndex...>) const {
    return Taken{
        ToolType<std::remove_cvref_t<A>>::FromValue(ArgumentOrNone(arguments, spec_.parameters[kIndex].name),
                                                    ValuePlace(spec_.parameters[kIndex].name))...};
  }

  template <std::size_t... kIndex>
  gloveport::Result<Value> Answer(Taken& taken, CallContext& context, const std::shared_ptr<Kept>& kept,
                                  std::index_sequence<kIndex...>) {
    const Error* error = nullptr;
    ((error = error == nullptr && !std::get<kIndex>(taken) ? &std::get<kIndex>(taken).error() : error), ...);
    if (error != nullptr) return Fail(error->code, spec_.name + "() " + error->message, error->hint);
    try {
      return Invoke(context, kept, std::forward<A>(*std::get<kIndex>(taken))...);
    } catch (...) {
      return tl::unexpected<Error>(ErrorOfException(spec_.name));
    }
  }

  gloveport::Result<Value> Invoke(CallContext& context, const std::shared_ptr<Kept>& kept, A&&... argument) {
    const auto call = [&](CallContext& given, auto&&... reply) -> R {
      if constexpr (Split::kContextFirst) {
        return (*function_)(given, std::forward<A>(argument)..., std::move(reply)...);
      } else if constexpr (Split::kContextLast) {
        return (*function_)(std::forward<A>(argument)..., std::move(reply)..., given);
      } else {
        return (*function_)(std::forward<A>(argument)..., std::move(reply)...);
      }
    };
    if constexpr (!std::is_void_v<Reply>) {
      const auto mailbox = std::make_shared<typename Reply::Mailbox>();
      call(context, Reply(mailbox));
      return ValueOfResult(mailbox->Wait(context), context);
    } else if constexpr (kIsTask<R>) {
      return ValueOfResult(R::Complete(context, kept, call), context);
    } else if constexpr (std::is_void_v<R>) {
      call(context);
      return Value();
    } else {
      return ValueOfResult(call(context), context);
    }
  }

  // What a function gave: a value, a Result, a stream, or a future of these.
  template <typename T>
  gloveport::Result<Value> ValueOfResult(T&& given, CallContext& context) {
    using Plain = std::remove_cvref_t<T>;
    if constexpr (kIsFuture<Plain>) {
      RETURN_IF_ERROR(AwaitFuture(given, context));
      if constexpr (std::is_void_v<decltype(given.get())>) {
        given.get();
        return Value();
      } else {
        return ValueOfResult(given.get(), context);
      }
    } else if constexpr (kIsResult<Plain>) {
      if (!given) return tl::unexpected<Error>(std::forward<T>(given).error());
      if constexpr (std::is_void_v<typename Plain::value_type>)
        return Value();
      else
        return ValueOfResult(*std::forward<T>(given), context);
    } else if constexpr (kIsStream<Plain>) {
      return streams_->Open(NextValue(std::move(given)), context);
    } else {
      return ToolType<Plain>::ToValue(std::forward<T>(given));
    }
  }

  template <typename Item>
  static ValueStreams::Next NextValue(ToolStream<Item> stream) {
    return
        [next = std::move(stream).Take()](CallContext& context) -> gloveport::Result<std::optional<Value>> {
          ASSIGN_OR_RETURN(auto item, next(context));
          if (!item) return std::optional<Value>();
          return std::optional<Value>(ToolType<Item>::ToValue(std::move(*item)));
        };
  }

  std::shared_ptr<ValueStreams> streams_;  // null unless spec_.is_stream
  ToolSpec spec_;
  std::shared_ptr<F> function_;
};

template <typename F, typename Reply, typename... A>
gloveport::Result<std::shared_ptr<Tool>> Bind(std::string_view name, std::string_view description, F function,
                                              std::vector<Arg> args, const ToolOptions& options,
                                              Types<A...>) {
  using Given = typename ResultOf<typename Signature<F>::Result>::Type;
  using T = typename std::conditional_t<std::is_void_v<Reply>, std::type_identity<ResultOf<Given>>,
                                        ReplyItem<Reply>>::type::Type;
  const std::vector<TypeDoc> parameters{ParameterDocOf<std::remove_cvref_t<A>>()...};
  ASSIGN_OR_RETURN(ToolSpec spec, MakeSpec(name, description, std::move(args), parameters, DocOf<T>()));
  spec.is_async = options.is_async;
  spec.timeout = options.timeout;
  spec.is_quick = options.is_quick;
  spec.waits_for_person = options.waits_for_person;
  spec.max_calls_per_cell = options.max_calls_per_cell;
  spec.is_stream = kIsStream<T>;
  return std::make_shared<FunctionTool<F, Types<A...>, Reply>>(std::move(spec), std::move(function));
}

}  // namespace binding_internal

// kInvalidArgument where there is not exactly one Arg for each parameter, a default does not fit its
// parameter, a required parameter comes after one with a default, or a name is no Python identifier.
template <typename Function>
Result<std::shared_ptr<Tool>> BindFunction(std::string_view name, std::string_view description,
                                           Function&& function, std::vector<Arg> args = {},
                                           const ToolOptions& options = {}) {
  using F = std::decay_t<Function>;
  static_assert(
      binding_internal::HasSignature<F>,
      "Gloveport: a tool is made from a function, a lambda with typed parameters or a std::function; generic "
      "lambdas and overloaded function objects have no one signature: wrap them in a lambda that has");
  if constexpr (binding_internal::HasSignature<F>) {
    using Split = binding_internal::SplitContext<typename binding_internal::Signature<F>::Parameters>;
    using Reply = binding_internal::ReplyOf<typename Split::Arguments>;
    return binding_internal::Bind<F, typename Reply::Reply>(
        name, description, F(std::forward<Function>(function)), std::move(args), options,
        typename Reply::Arguments());
  }
}

}  // namespace gloveport

#endif  // GLOVEPORT_TOOLS_BINDING_H_
