package io.dynamo.frontend.postprocess.tools;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class JsonScannerTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{}",
        "{ \"a\" : [ 1 , -2.5e+3, true,false , null ] , \"b\":{\"c\":\"\"} }",
        "{\"text\":\"a \\\"quoted\\\" \\\\ \\u00e9 </tool_call> {[,:]}\",\"ü😀\":\"ü😀\"}",
        "[[[]],{\"a\":[{}]}]"
      })
  void soundJsonStaysAsItIs(String json) {
    assertThat(JsonFragments.value(json, false)).isEqualTo(json);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"a\":1,\"b\":[true,{\"c\":\"x\\n\\u00e9\"},null],\"d\":{}}",
        "{\"long\":123456,\"neg\":-1.5,\"s\":\"\\\\\",\"t\":[1,2,[3]]}"
      })
  void everyBeginningClosesToSoundJson(String json) throws JsonProcessingException {
    for (int cut = 1; cut <= json.length(); cut++) {
      var scanner = new JsonScanner(false);
      var out = new StringBuilder();
      for (int i = 0; i < cut; i++) {
        scanner.accept(json.charAt(i), out);
      }
      assertThat(json).startsWith(out.toString());
      scanner.close(out);
      assertThat(JSON.readTree(out.toString()).isObject()).as("cut at %d: %s", cut, out).isTrue();
    }
    assertThat(JsonFragments.closed(json)).isEqualTo(json);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          {"a": 1,}        | {"a": 1}
          [1, 2, ]         | [1, 2 ]
          {"a": True}      | {"a": true}
          {"a": None}      | {"a": null}
          {"re": "\\d+"}    | {"re": "\\\\d+"}
          {"q": "it\\'s"}   | {"q": "it's"}
          {"u": "\\u12"}    | {"u": "\\\\u12"}
          """)
  void commonFaultsOfModelsAreRepaired(String written, String expected)
      throws JsonProcessingException {
    var value = JsonFragments.value(written, false);
    assertThat(value).isEqualTo(expected);
    JSON.readTree(value);
  }

  @Test
  void onlyAsciiDigitsMakeAnEscape() throws JsonProcessingException {
    var json = String.valueOf(JsonFragments.value("\"\\u\u0660\u0661\u0662\u0663\"", false));
    assertThat(JSON.readTree(json).textValue()).isEqualTo("\\u\u0660\u0661\u0662\u0663");
  }

  @Test
  void lineBreaksWithinStringsAreEscaped() {
    assertThat(JsonFragments.value("{\"a\":\"x\n\ty\"}", false)).isEqualTo("{\"a\":\"x\\n\\ty\"}");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "{", "{a:1}", "{\"a\" 1}", "{\"a\":}", "{\"a\":01}", "[1}", "{}{}"})
  void textThatIsNoJsonIsRefused(String text) {
    assertThat(JsonFragments.value(text, false)).isNull();
  }

  @Test
  void spaceIsRemovedInCompactJson() {
    assertThat(JsonFragments.value("{ \"a b\" : [ 1 , \"c d\" ] }", true))
        .isEqualTo("{\"a b\":[1,\"c d\"]}");
  }

  @Test
  void depthIsBounded() {
    assertThat(JsonFragments.value("[".repeat(300) + "]".repeat(300), false)).isNull();
  }

  @Test
  void stringsAreDecoded() {
    assertThat(JsonFragments.decode("\"a\\\"\\\\\\n\\u00e9\\/\"")).isEqualTo("a\"\\\né/");
  }
}
