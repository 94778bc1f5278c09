package io.dynamo.frontend.postprocess;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.frontend.postprocess.tools.ToolChoice;
import io.dynamo.frontend.postprocess.tools.ToolSchemas;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Messages have the parts that Dynamo 1.6.1 found in the same items of a worker. */
final class CapturedMessagesTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Map<String, Map<String, String>> CARDS =
      Map.of(
          "hermes", Map.of("tool_call_parser", "hermes"),
          "qwen3", Map.of("tool_call_parser", "hermes", "reasoning_parser", "qwen3"),
          "r1", Map.of("reasoning_parser", "deepseek_r1"),
          "coder", Map.of("tool_call_parser", "qwen3_coder"),
          "gptoss", Map.of("tool_call_parser", "harmony", "reasoning_parser", "gpt_oss"),
          "llama3", Map.of("tool_call_parser", "llama3_json"),
          "dsv31", Map.of("tool_call_parser", "deepseek_v3_1", "reasoning_parser", "deepseek_v3_1"),
          "mistral", Map.of("tool_call_parser", "mistral", "reasoning_parser", "mistral"));

  /** The right messages where Dynamo loses text or calls, or ran without the model's tokens. */
  private static final Map<String, Message> BETTER =
      Map.ofEntries(
          Map.entry(
              "hermes_bad_json",
              Message.content("<tool_call>\n{\"name\": get_weather}\n</tool_call>")),
          Map.entry(
              "hermes_truncated_length",
              Message.content("<tool_call>\n{\"name\": \"get_weather\", \"argum")),
          Map.entry(
              "coder_truncated", new Message("", "", List.of("get_weather{\"city\":\"Par\"}"))),
          Map.entry(
              "mistral_new", new Message("", "", List.of("get_weather{\"city\": \"Paris\"}"))),
          Map.entry("gptoss_final", new Message("answer", "thinking", List.of())),
          Map.entry(
              "gptoss_tool",
              new Message("", "need weather", List.of("get_weather{\"city\":\"Paris\"}"))));

  /** A choice's message; calls as name and arguments. */
  record Message(String content, String reasoning, List<String> calls) {
    static Message content(String text) {
      return new Message(text, "", List.of());
    }
  }

  /** One request and what came back, by choice. */
  record Capture(String name, JsonNode body, Map<Integer, Message> messages) {
    @Override
    public String toString() {
      return name;
    }
  }

  static Stream<Capture> captures() {
    return Stream.of("parsers", "tools", "reasoning").flatMap(CapturedMessagesTest::captures);
  }

  private static Stream<Capture> captures(String group) {
    try (var in = CapturedMessagesTest.class.getResourceAsStream("/golden/" + group + ".json")) {
      return StreamSupport.stream(JSON.readTree(in).spliterator(), false)
          .filter(it -> it.path("response").path("status").asInt() == 200)
          .filter(it -> it.path("request").path("body").toString().contains("@@{\\\"items"))
          .map(CapturedMessagesTest::capture)
          .toList()
          .stream();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Capture capture(JsonNode transcript) {
    var messages = new TreeMap<Integer, Message>();
    var response = transcript.path("response");
    if (response.has("json")) {
      for (var choice : response.path("json").path("choices")) {
        messages.put(choice.path("index").asInt(), message(choice.path("message")));
      }
    } else {
      fold(response.path("sse").asText(), messages);
    }
    return new Capture(
        transcript.path("name").asText(), transcript.path("request").path("body"), messages);
  }

  private static Message message(JsonNode json) {
    var calls = new ArrayList<String>();
    for (var call : json.path("tool_calls")) {
      var function = call.path("function");
      calls.add(function.path("name").asText() + function.path("arguments").asText());
    }
    return new Message(
        json.path("content").asText(""), json.path("reasoning_content").asText(""), calls);
  }

  private static void fold(String sse, Map<Integer, Message> messages) {
    for (var frame : sse.split("\n\n", -1)) {
      if (!frame.startsWith("data: {")) {
        continue;
      }
      JsonNode chunk;
      try {
        chunk = JSON.readTree(frame.substring("data: ".length()));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      for (var choice : chunk.path("choices")) {
        var delta = message(choice.path("delta"));
        messages.merge(choice.path("index").asInt(), delta, CapturedMessagesTest::join);
      }
    }
  }

  private static Message join(Message a, Message b) {
    var calls = new ArrayList<>(a.calls());
    for (var call : b.calls()) {
      if (call.startsWith("{") || call.startsWith("\"")) { // more of the last one's arguments
        calls.set(calls.size() - 1, calls.getLast() + call);
      } else {
        calls.add(call);
      }
    }
    return new Message(a.content() + b.content(), a.reasoning() + b.reasoning(), calls);
  }

  @ParameterizedTest
  @MethodSource("captures")
  void messagesAreTakenApartAsCapturedOrBetter(Capture capture) throws IOException {
    var body = capture.body();
    var asked = body.path("messages").path(body.path("messages").size() - 1).path("content");
    var script = asked.asText();
    var items = JSON.readTree(script.substring(2, script.length() - 2)).path("items");
    var grammar = MessageGrammar.of(CARDS.getOrDefault(body.path("model").asText(), Map.of()));
    assertThat(grammar.problems()).isEmpty();

    var base = capture.name().replaceAll("_(unary|stream)$", "");
    for (var expected : capture.messages().entrySet()) {
      var message = run(grammar, options(body), items, expected.getKey());
      assertThat(message).isEqualTo(BETTER.getOrDefault(base, expected.getValue()));
    }
  }

  private static Message run(
      MessageGrammar grammar, MessageOptions options, JsonNode items, int choice) {
    var assembler = grammar.assembler(options, ToolSchemas.of(options.tools()), () -> "");
    var pieces = new ArrayList<Piece>();
    for (var item : items) {
      if (item.path("index").asInt(0) == choice) {
        var text = item.path("t").asText("");
        int stop = text.indexOf("STOP"); // as the one capture with a stop string has it
        boolean last = item.has("finish_reason");
        text = stop < 0 ? text : text.substring(0, stop);
        pieces.addAll(
            assembler == null ? List.of(new Piece.Content(text)) : assembler.accept(text, 1, last));
      }
    }
    var content = new StringBuilder();
    var reasoning = new StringBuilder();
    var calls = new ArrayList<String>();
    for (var piece : pieces) {
      switch (piece) {
        case Piece.Content it -> content.append(it.text());
        case Piece.Reasoning it -> reasoning.append(it.text());
        case Piece.CallStarted it -> {
          assertThat(it.id()).matches("call-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");
          assertThat(it.index()).isEqualTo(calls.size());
          calls.add(it.name());
        }
        case Piece.CallArguments it -> calls.set(it.index(), calls.get(it.index()) + it.json());
        case Piece.CallEnded _ -> {}
      }
    }
    return new Message(content.toString(), reasoning.toString(), calls);
  }

  private static MessageOptions options(JsonNode body) {
    List<Map<String, Object>> tools =
        JSON.convertValue(body.path("tools"), new TypeReference<>() {});
    var args = new TreeMap<String, Object>();
    for (var key : List.of("chat_template_args", "chat_template_kwargs")) {
      if (body.has(key)) {
        args.putAll(JSON.convertValue(body.get(key), new TypeReference<Map<String, Object>>() {}));
      }
    }
    if (body.has("reasoning_effort")) {
      args.put("reasoning_effort", body.get("reasoning_effort").asText());
    }
    if (body.path("thinking").path("type").asText().equals("disabled")) {
      args.put("thinking", false);
    }
    var choice = body.path("tool_choice");
    ToolChoice read =
        choice.isObject()
            ? new ToolChoice.Named(choice.path("function").path("name").asText())
            : switch (choice.asText("auto")) {
              case "none" -> new ToolChoice.None();
              case "required" -> new ToolChoice.Required();
              default -> new ToolChoice.Auto();
            };
    return new MessageOptions(
        Objects.requireNonNullElse(tools, List.of()),
        read,
        body.path("parallel_tool_calls").asBoolean(true),
        args,
        false);
  }
}
