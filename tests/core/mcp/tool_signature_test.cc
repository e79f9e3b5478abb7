#include "gloveport/core/mcp/tool_signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gloveport/core/mcp/plain_schema.h"
#include "gloveport/core/mcp/python_names.h"
#include "gloveport/core/mcp/schema_text.h"
#include "gloveport/core/mcp/tool_result.h"
#include "gloveport/tools/tool_names.h"

namespace gloveport {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

const McpLimits kLimits;

Json J(const std::string& text) { return ParseJson(text).value(); }

McpToolInfo ToolWith(const std::string& input_schema, const std::string& output_schema = "") {
  McpToolInfo tool;
  tool.name = "t";
  tool.input_schema = J(input_schema);
  if (!output_schema.empty()) tool.output_schema = J(output_schema);
  return tool;
}

std::string SignatureOf(const std::string& input_schema, const std::string& output_schema = "") {
  const McpSignature signature = MakeSignature(ToolWith(input_schema, output_schema), "t", kLimits);
  const Status fits = CheckToolSpec(signature.spec);
  EXPECT_TRUE(fits) << fits.error().message;
  return signature.spec.Signature();
}

// ---- names ----

TEST(AsIdentifier, KeepsWhatPythonTakes) {
  EXPECT_EQ("get_sum", AsIdentifier("get-sum"));
  EXPECT_EQ("admin_tools_list", AsIdentifier("admin.tools.list"));
  EXPECT_EQ("getUser", AsIdentifier("getUser"));
  EXPECT_EQ("_3d", AsIdentifier("3d"));
  EXPECT_EQ("tool", AsIdentifier("--"));
  EXPECT_EQ("tool", AsIdentifier(""));
  EXPECT_EQ("a_b", AsIdentifier("a\xc3\xa4\nb"));
  EXPECT_EQ("class_", AsIdentifier("__class__"));
  EXPECT_EQ(100u, AsIdentifier(std::string(1000, 'a')).size());
}

TEST(ChooseNames, GivesEachToolANameOfItsOwn) {
  const auto chosen = ChooseNames({{"a", "read"},
                                   {"b", "read"},
                                   {"a", "print"},
                                   {"a", "class"},
                                   {"a", "own"},
                                   {"a", "x-y"},
                                   {"a", "x.y"},
                                   {"b", "solo"},
                                   {"a", "final_answer"}},
                                  {"own"});
  EXPECT_THAT(chosen.names, ElementsAre("a_read", "b_read", "a_print", "a_class", "a_own", "a_x_y", "a_x_y_2",
                                        "solo", "a_final_answer"));
  EXPECT_EQ(8u, chosen.notes.size());
  EXPECT_THAT(chosen.notes[0], HasSubstr("several tools have that name"));
}

TEST(ChooseNames, DoesNotDependOnTheOrderOfServers) {
  const auto one = ChooseNames({{"a", "read"}, {"b", "read"}}, {});
  const auto other = ChooseNames({{"b", "read"}, {"a", "read"}}, {});
  EXPECT_EQ(one.names[0], other.names[1]);
  EXPECT_EQ(one.names[1], other.names[0]);
}

TEST(ChooseNames, LetsNoServerPassForAnother) {
  const auto chosen = ChooseNames({{"evil", "files_read"}, {"evil", "read"}, {"files", "read"}}, {});
  EXPECT_THAT(chosen.names, ElementsAre("evil_files_read", "evil_read", "files_read"));
  EXPECT_THAT(chosen.notes[0], HasSubstr("another server"));
  EXPECT_THAT(ChooseNames({{"files", "files_read"}}, {}).names, ElementsAre("files_read"));
}

TEST(ParameterName, AvoidsKeywordsAndDoubles) {
  std::set<std::string> taken;
  EXPECT_EQ("from_", ParameterName("from", taken));
  EXPECT_EQ("from__2", ParameterName("from", taken));
  EXPECT_EQ("max_results", ParameterName("max-results", taken));
  EXPECT_EQ("max_results_2", ParameterName("max_results", taken));
  EXPECT_EQ("list", ParameterName("list", taken));
}

// ---- signatures ----

TEST(MakeSignature, MapsSchemasToAnnotations) {
  struct Case {
    const char* property;
    const char* annotation;
  };
  const Case kCases[] = {
      {R"({"type":"string"})", "str"},
      {R"({"type":"integer"})", "int"},
      {R"({"type":"number"})", "float"},
      {R"({"type":"boolean"})", "bool"},
      {R"({"type":"array"})", "list"},
      {R"({"type":"array","items":{"type":"string"}})", "list[str]"},
      {R"({"type":"object"})", "dict"},
      {R"({"type":"object","additionalProperties":{"type":"integer"}})", "dict[str, int]"},
      {R"({"enum":["a","b's"]})", "Literal['a', \"b's\"]"},
      {R"({"type":"string","enum":["a",null]})", "Literal['a'] | None"},
      {R"({"const":3})", "Literal[3]"},
      {R"({"type":["string","null"]})", "str | None"},
      {R"({"anyOf":[{"type":"integer"},{"type":"string"},{"type":"null"}]})", "int | str | None"},
      {R"({"$ref":"#/$defs/P"})", "list[float]"},
      {R"({"allOf":[{"$ref":"#/$defs/P"}],"description":"d"})", "list[float]"},
      {R"({"$ref":"#/$defs/Missing"})", "object"},
      {R"({"$ref":"https://example.org/schema"})", "object"},
      {R"({"$ref":"#/$defs/Loop"})", "list["},
      {R"({})", "object"},
      {R"(true)", "object"},
      {R"({"type":"unheard-of"})", "object"},
  };
  for (const Case& c : kCases) {
    const std::string schema = std::string(R"({"type":"object","properties":{"p":)") + c.property +
                               R"(},"required":["p"],"$defs":{"P":{"type":"array","items":{"type":"number"}},
                                  "Loop":{"type":"array","items":{"$ref":"#/$defs/Loop"}}}})";
    EXPECT_THAT(SignatureOf(schema), HasSubstr(std::string("p: ") + c.annotation)) << c.property;
  }
}

TEST(MakeSignature, PutsRequiredParametersFirstAndGivesTheOthersDefaults) {
  EXPECT_EQ(
      "t(c: str, a: int = 3, b: str | None = None) -> object",
      SignatureOf(R"({"type":"object","properties":{"a":{"type":"integer","default":3},"b":{"type":"string"},
                            "c":{"type":"string"}},"required":["c"]})"));
  EXPECT_EQ("t() -> object", SignatureOf(R"({"type":"object"})"));
  EXPECT_EQ("t() -> object", SignatureOf(R"({"type":"object","properties":{}})"));
  EXPECT_EQ("t(**arguments: object) -> object",
            SignatureOf(R"({"type":"object","additionalProperties":true})"));
  EXPECT_EQ("t(**arguments: object) -> object", SignatureOf(R"({"anyOf":[{"required":["a"]}]})"));
  EXPECT_EQ("t(arguments: str, **arguments_2: object) -> object",
            SignatureOf(R"({"properties":{"arguments":{"type":"string"}},"required":["arguments"],
                            "additionalProperties":{"type":"string"}})"));
}

TEST(MakeSignature, TakesManyParametersByKeyword) {
  Json properties = Json::object();
  for (int i = 0; i < 100; ++i) properties["p" + std::to_string(i)] = {{"type", "string"}};
  EXPECT_EQ("t(**arguments: object) -> object", SignatureOf(DumpJson(Json{{"properties", properties}})));
}

TEST(MakeSignature, SaysWhatDictsHold) {
  const McpSignature signature = MakeSignature(
      ToolWith(R"({"properties":{"items":{"type":"array","description":"what to add","items":{"type":"object",
                   "properties":{"name":{"type":"string"},"size":{"type":"integer"}},"required":["name"]}}},
                   "required":["items"]})",
               R"({"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]})"),
      "t", kLimits);
  EXPECT_EQ("what to add (each a dict with keys name: str, size: int (optional))",
            signature.spec.parameters[0].description);
  EXPECT_EQ("dict", signature.spec.returns);
  EXPECT_EQ("dict with keys sum: float", signature.spec.returns_description);
}

TEST(MakeSignature, IsTotalOnHostileSchemas) {
  std::string deep = R"({"type":"string"})";
  for (int i = 0; i < 20; ++i) deep = R"({"type":"array","items":)" + deep + "}";
  std::string wide = R"({"anyOf":[)";
  for (int i = 0; i < 1000; ++i) wide += R"({"$ref":"#/$defs/B"},)";
  wide += "{}]}";
  for (const std::string& property :
       {deep, wide, std::string(R"({"enum":[]})"), std::string(R"({"enum":7})"),
        std::string(R"({"required":3,"type":4})"), std::string(R"({"properties":[1]})"),
        std::string(R"({"$ref":7})"), std::string(R"({"$ref":"#/~5"})"),
        std::string(R"({"description":"\u001b[2J\u202e","type":"string"})")}) {
    const std::string schema = R"({"properties":{"p":)" + property +
                               R"(},"$defs":{"B":{"anyOf":[{"$ref":"#/$defs/B"},{"$ref":"#/$defs/B"}]}}})";
    const std::string signature = SignatureOf(schema);
    EXPECT_LT(signature.size(), 3000u);
    EXPECT_THAT(signature, Not(HasSubstr("\x1b")));
  }
}

TEST(InlineReferences, StopsWithinItsBudget) {
  const Json root =
      J(R"({"$defs":{"B":{"anyOf":[{"$ref":"#/$defs/B"},{"$ref":"#/$defs/B"},{"$ref":"#/$defs/B"}]}}})");
  EXPECT_LT(DumpJson(InlineReferences(J(R"({"$ref":"#/$defs/B"})"), root)).size(), 200'000u);
}

TEST(InlineReferences, CountsDataBySize) {
  Json root = J(R"({"$defs":{},"properties":{}})");
  root["$defs"]["D"]["default"] = std::string(10'000, 'x');
  for (int i = 0; i < 60; ++i) root["properties"]["p" + std::to_string(i)] = J(R"({"$ref":"#/$defs/D"})");
  EXPECT_LT(DumpJson(InlineReferences(root, root)).size(), 150'000u);
  InlineBudget budget;
  std::size_t bytes = 0;
  for (int i = 0; i < 60; ++i)
    bytes += DumpJson(InlineReferences(J(R"({"$ref":"#/$defs/D"})"), root, budget)).size();
  EXPECT_LT(bytes, 150'000u);
}

TEST(AnnotationOf, IsBounded) {
  std::string schema = R"({"type":"integer"})";
  for (int level = 0; level < 6; ++level) {
    std::string choices;
    for (const char* literal : {"a", "b", "c", "d"})
      choices += R"({"type":"object","additionalProperties":{"anyOf":[{"const":")" + std::string(literal) +
                 R"("},)" + schema + "]}},";
    schema = R"({"anyOf":[)" + choices + R"({"type":"null"}]})";
  }
  EXPECT_LT(AnnotationOf(J(schema)).size(), 2'000u);
}

TEST(InlineReferences, KeepsPropertiesWithTheNamesOfKeywords) {
  const Json schema =
      J(R"({"properties":{"$id":{"type":"string"},"x-a":{"type":"integer"}},"x-b":1,"$id":"u"})");
  EXPECT_EQ(J(R"({"properties":{"$id":{"type":"string"},"x-a":{"type":"integer"}}})"),
            InlineReferences(schema, schema));
}

// ---- arguments ----

TEST(ArgumentsJson, GoesBackToTheServersNames) {
  const McpSignature signature = MakeSignature(
      ToolWith(R"({"properties":{"from":{"type":"string"},"max-size":{"type":"integer"}},"required":["from"],
                   "additionalProperties":true})"),
      "t", kLimits);
  const auto json =
      ArgumentsJson(signature, Arguments({{Value("from_"), Value("a")},
                                          {Value("max_size"), Value()},
                                          {Value("arguments"), Value::Object({{"more", Value(1)}})}}));
  ASSERT_TRUE(json);
  EXPECT_EQ(J(R"({"more":1,"from":"a"})"), *json);
}

TEST(PlainJsonOf, GivesRichValuesThePlainFormsThatTheyHave) {
  const Value::Bytes bytes = {std::byte{'h'}, std::byte{'i'}};
  EXPECT_EQ(J(R"([1,"aGk=","2026-01-31","1.5",[1,2]])"),
            PlainJsonOf(Value(Value::List{Value(1), Value(bytes), Value(Form::kDate, Value("2026-01-31")),
                                          Value(Form::kDecimal, Value("1.5")),
                                          Value(Form::kTuple, Value(Value::List{Value(1), Value(2)}))}),
                        "x")
                .value());
}

TEST(PlainJsonOf, RefusesWhatHasNoneAndNamesThePlace) {
  const auto nan = PlainJsonOf(Value::Object({{"a", Value(Value::List{Value(0.0 / 0.0)})}}), "argument 'p'");
  ASSERT_FALSE(nan);
  EXPECT_EQ("argument 'p'['a'][0]: JSON has no NaN and no infinity", nan.error().message);
  EXPECT_FALSE(PlainJsonOf(Value(Value::Map{{Value(1), Value(2)}}), "x"));
  EXPECT_FALSE(PlainJsonOf(Value(Form::kComplex, Value(Value::List{Value(1), Value(2)})), "x"));
}

// ---- results ----

Result<Value> ResultOfTool(const std::string& result, const std::string& output_schema = "",
                           const SchemaValidator& validate = {}) {
  return ToolResultValue(J(result), ToolWith("{}", output_schema), validate, kLimits);
}

TEST(ToolResultValue, IsTextWhereAllIsText) {
  EXPECT_EQ(Value("a\nb"),
            ResultOfTool(R"({"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]})").value());
  EXPECT_EQ(Value(), ResultOfTool(R"({"content":[]})").value());
  EXPECT_EQ(Value(), ResultOfTool(R"({})").value());
}

TEST(ToolResultValue, KeepsImagesAndResources) {
  const auto image = ResultOfTool(R"({"content":[{"type":"image","data":"aGk=","mimeType":"image/png"}]})");
  ASSERT_TRUE(image);
  EXPECT_TRUE(image->is(Form::kImage));
  EXPECT_EQ("image/png", image->payload().TextOr("mime", ""));
  const auto mixed = ResultOfTool(
      R"({"content":[{"type":"text","text":"a"},{"type":"resource","resource":{"uri":"u:1","text":"r"}},
                     {"type":"resource_link","uri":"u:2","name":"n"},{"type":"audio","data":"aGk=","mimeType":"audio/wav"}]})");
  ASSERT_TRUE(mixed);
  ASSERT_EQ(4u, mixed->as_list().size());
  EXPECT_EQ("r", mixed->as_list()[1].TextOr("text", ""));
  EXPECT_EQ("u:2", mixed->as_list()[2].TextOr("uri", ""));
  EXPECT_TRUE(mixed->as_list()[3].Find("data")->is_bytes());
}

TEST(ToolResultValue, ReadsNoFormsOutOfWhatAServerSays) {
  const auto value = ResultOfTool(R"({"structuredContent":{"$bytes":"aGk="}})", R"({"type":"object"})");
  ASSERT_TRUE(value);
  EXPECT_TRUE(value->is_map());
}

TEST(ToolResultValue, IsAnErrorWhereTheToolFailed) {
  const auto failed = ResultOfTool(R"({"content":[{"type":"text","text":"no\u001b[1m"}],"isError":true})");
  ASSERT_FALSE(failed);
  EXPECT_EQ("no\\x1b[1m", failed.error().message);
  EXPECT_FALSE(ResultOfTool(R"({"isError":true})"));
}

TEST(ToolResultValue, RefusesMalformedContent) {
  for (const char* text :
       {R"({"content":7})", R"({"content":[{"type":"image","data":"%%%"}]})",
        R"({"content":[{"type":"new"}]})", R"({"content":[{"type":"resource"}]})", R"({"content":[3]})"}) {
    EXPECT_FALSE(ResultOfTool(text)) << text;
  }
}

TEST(ToolResultValue, ChecksStructuredContentAgainstTheSchema) {
  const std::string schema = R"({"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]})";
  EXPECT_TRUE(ResultOfTool(R"({"content":[],"structuredContent":{"sum":1}})", schema));
  const auto refused = ResultOfTool(R"({"content":[],"structuredContent":{"sum":"x"}})", schema);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/sum: is not of type number"));
  EXPECT_FALSE(ResultOfTool(R"({"content":[{"type":"text","text":"{}"}]})", schema));
}

TEST(ToolResultValue, LeavesUnusualSchemasToTheValidator) {
  const SchemaValidator refusing = [](const Value&, const Value&) -> Result<std::vector<std::string>> {
    return std::vector<std::string>{"/sum: does not match"};
  };
  const std::string result = R"({"structuredContent":{"sum":"x"}})";
  const std::string schema = R"({"properties":{"sum":{"pattern":"^a"}}})";
  EXPECT_TRUE(ResultOfTool(result, schema));
  const auto refused = ResultOfTool(result, schema, refusing);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("/sum: does not match"));
}

TEST(CheckPlainly, JudgesTheUsualKeywords) {
  struct Case {
    const char* schema;
    const char* fits;
    const char* does_not;
  };
  const Case kCases[] = {
      {R"({"type":"string"})", R"("a")", "1"},
      {R"({"type":"integer"})", "1.0", "1.5"},
      {R"({"type":"number"})", "1", "true"},
      {R"({"type":["string","null"]})", "null", "1"},
      {R"({"enum":["a",1,null]})", "1", R"("b")"},
      {R"({"const":{"a":1}})", R"({"a":1})", R"({"a":2})"},
      {R"({"minLength":2,"maxLength":3})", R"("ää")", R"("ä")"},
      {R"({"minimum":1,"exclusiveMaximum":2})", "1", "2"},
      {R"({"minItems":1,"maxItems":2,"items":{"type":"integer"}})", "[1,2]", R"([1,"a"])"},
      {R"({"items":false})", "[]", "[1]"},
      {R"({"required":["a"]})", R"({"a":1})", R"({"b":1})"},
      {R"({"properties":{"a":{"type":"string"}},"additionalProperties":false})", R"({"a":"x"})",
       R"({"a":"x","b":1})"},
      {R"({"additionalProperties":{"type":"integer"}})", R"({"a":1})", R"({"a":"x"})"},
      {R"({"anyOf":[{"type":"string"},{"type":"integer"}]})", "1", "null"},
      {R"({"oneOf":[{"type":"number"},{"type":"integer"}]})", "1.5", "1"},
      {R"({"allOf":[{"type":"number"},{"minimum":3}]})", "3", "2"},
      {R"({"$ref":"#/$defs/T","$defs":{"T":{"properties":{"t":{"$ref":"#/$defs/T"},"v":{"type":"string"}}}}})",
       R"({"t":{"t":{"v":"x"}}})", R"({"t":{"t":{"v":1}}})"},
  };
  for (const Case& c : kCases) {
    const Json schema = J(c.schema);
    // A reference may stand alone only.
    Json usable = schema;
    if (schema.contains("$defs"))
      usable = {{"allOf", Json::array({Json{{"$ref", schema["$ref"]}}})}, {"$defs", schema["$defs"]}};
    const auto fits = CheckPlainly(J(c.fits), usable);
    ASSERT_TRUE(fits) << c.schema;
    EXPECT_THAT(*fits, IsEmpty()) << c.schema << " " << c.fits;
    const auto does_not = CheckPlainly(J(c.does_not), usable);
    ASSERT_TRUE(does_not) << c.schema;
    EXPECT_THAT(*does_not, Not(IsEmpty())) << c.schema << " " << c.does_not;
  }
}

TEST(CheckPlainly, GivesUpWhereItWouldTakeLong) {
  Json schema = J(R"({"type":"array","items":{"enum":[]}})");
  for (int i = 0; i < 5'000; ++i) schema["items"]["enum"].push_back(i);
  EXPECT_FALSE(CheckPlainly(Json(std::vector<int>(1'000, 4'999)), schema));
  EXPECT_TRUE(CheckPlainly(Json(std::vector<int>(10, 4'999)), schema));
}

TEST(CheckPlainly, SaysWhereItCannotTell) {
  for (const char* schema :
       {R"({"pattern":"a"})", R"({"not":{}})", R"({"$ref":"https://example.org/"})",
        R"({"$ref":"#/$defs/None"})", R"({"properties":{"a":{"if":{}}}})",
        R"({"allOf":[{"$ref":"#/$defs/L"}],"$defs":{"L":{"allOf":[{"$ref":"#/$defs/L"}]}}})"}) {
    EXPECT_FALSE(CheckPlainly(J(R"({"a":1})"), J(schema))) << schema;
  }
  EXPECT_FALSE(CheckPlainly(J("123456789012345678901234567890"), J(R"({"type":"integer"})")));
}

TEST(ResourceValue, IsTheContentOfOneResource) {
  EXPECT_EQ(Value("r"), ResourceValue(J(R"({"contents":[{"uri":"u","text":"r"}]})")).value());
  EXPECT_TRUE(ResourceValue(J(R"({"contents":[{"uri":"u","blob":"aGk="}]})"))->is_bytes());
  EXPECT_EQ(
      2u,
      ResourceValue(J(R"({"contents":[{"uri":"u","text":"a"},{"uri":"v","text":"b"}]})"))->as_list().size());
  EXPECT_FALSE(ResourceValue(J(R"({})")));
}

// ---- lists ----

TEST(ParseToolPage, TakesWhatIsAToolAndRejectsTheRest) {
  const McpToolPage page = ParseToolPage(
      J(R"({"tools":[{"name":"a","description":"d\u001b","inputSchema":{}},{"name":"b"},{"inputSchema":{}},5,
                     {"name":"c","title":"Title","inputSchema":{},"outputSchema":3}],"nextCursor":"n"})"),
      kLimits);
  ASSERT_EQ(1u, page.tools.size());
  EXPECT_EQ("d\\x1b", page.tools[0].description);
  EXPECT_EQ(4u, page.rejected.size());
  EXPECT_EQ("n", page.next_cursor);
}

TEST(ParseToolPage, FindsHeaderParametersWhereTheyMayStand) {
  const auto parse = [](const std::string& schema) {
    return ParseToolPage(J(R"({"tools":[{"name":"a","inputSchema":)" + schema + "}]}"), kLimits);
  };
  const McpToolPage good = parse(
      R"({"properties":{"region":{"type":"string","x-mcp-header":"Region"},
          "o":{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}}})");
  ASSERT_EQ(1u, good.tools.size());
  ASSERT_EQ(2u, good.tools[0].headers.size());
  EXPECT_THAT(good.tools[0].headers[1].path, ElementsAre("o", "n"));
  for (
      const char* schema :
      {R"({"properties":{"a":{"type":"string","x-mcp-header":""}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":"A: b\r\n"}}})",
       R"({"properties":{"a":{"type":"number","x-mcp-header":"A"}}})",
       R"({"properties":{"a":{"type":"array","items":{"type":"string","x-mcp-header":"A"}}}})",
       R"({"properties":{"a":{"type":"string","x-mcp-header":"A"},"b":{"type":"string","x-mcp-header":"a"}}})"}) {
    EXPECT_THAT(parse(schema).tools, IsEmpty()) << schema;
  }
}

}  // namespace
}  // namespace gloveport
