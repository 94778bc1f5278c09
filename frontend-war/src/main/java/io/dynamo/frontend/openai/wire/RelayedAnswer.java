package io.dynamo.frontend.openai.wire;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.dynamo.error.EngineFailedException;
import io.dynamo.error.ErrorCode;
import io.dynamo.inference.TaskOutput;
import io.dynamo.inference.Usage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The answer of a worker that writes OpenAI's chunks itself: checks each, and folds them into a
 * whole answer. For one thread.
 */
public final class RelayedAnswer {
  private static final String CHOICES = "choices";
  private static final String FINISH = "finish_reason";
  private static final String LOGPROBS = "logprobs";

  /** An API whose chunks workers write. */
  public enum Form {
    CHAT("chat.completion.chunk", "chat.completion", "delta"),
    COMPLETIONS("text_completion", "text_completion", "text");

    private final String chunk;
    private final String whole;
    private final String content;

    Form(String chunk, String whole, String content) {
      this.chunk = chunk;
      this.whole = whole;
      this.content = content;
    }
  }

  /**
   * The fields of an answer whose worker leaves them out.
   *
   * @param id of the answer
   * @param choices how many there may be
   */
  public record Head(String id, long createdSeconds, String model, int choices) {}

  private final Form form;
  private final Head head;
  private final Map<String, @Nullable Object> whole = new LinkedHashMap<>(); // without its choices
  private final Map<Integer, FoldedChoice> folded = new TreeMap<>();
  private final Map<Integer, Boolean> finished = new TreeMap<>(); // by choice
  private @Nullable Usage usage;

  public RelayedAnswer(Form form, Head head) {
    this.form = form;
    this.head = head;
  }

  /**
   * Checks an item, and completes it: the keys that every chunk has are there.
   *
   * @throws EngineFailedException when it is no chunk of this API
   */
  public Map<String, @Nullable Object> chunk(TaskOutput item) {
    if (!(item.json() instanceof Map<?, ?> fields)) {
      throw broken("an item is no map");
    }
    if (!(fields.get(CHOICES) instanceof List<?> choices)) {
      throw broken("an item has no list `choices`");
    }
    var chunk = new LinkedHashMap<String, @Nullable Object>();
    chunk.put("id", head.id());
    chunk.put(CHOICES, choices.stream().map(this::choice).toList());
    chunk.put("created", head.createdSeconds());
    chunk.put("model", head.model());
    fields.forEach(
        (key, value) -> {
          if (!CHOICES.equals(key) && value != null) {
            chunk.put(String.valueOf(key), value);
          }
        });
    chunk.put("object", form.chunk);
    if (chunk.get("usage") instanceof Map<?, ?> counts) {
      usage = usage(counts);
    }
    return chunk;
  }

  private Map<String, @Nullable Object> choice(@Nullable Object given) {
    if (!(given instanceof Map<?, ?> fields)) {
      throw broken("a choice is no map");
    }
    if (!(fields.get("index") instanceof Number number)
        || number.longValue() < 0
        || number.longValue() >= head.choices()) {
      throw broken("the index of a choice is none of the %d asked for".formatted(head.choices()));
    }
    var content = fields.get(form.content);
    if (form == Form.CHAT ? !(content instanceof Map<?, ?>) : !(content instanceof String)) {
      throw broken("a choice has no `%s`".formatted(form.content));
    }
    var finish = fields.get(FINISH);
    if (finish != null && !(finish instanceof String)) {
      throw broken("a finish_reason is no text");
    }
    finished.merge(number.intValue(), finish != null, Boolean::logicalOr);
    var choice = new LinkedHashMap<String, @Nullable Object>();
    fields.forEach((key, value) -> choice.put(String.valueOf(key), value));
    choice.putIfAbsent(FINISH, null);
    if (form == Form.CHAT) {
      choice.putIfAbsent(LOGPROBS, null);
    }
    return choice;
  }

  private static Usage usage(Map<?, ?> counts) {
    return new Usage(
        count(counts.get("prompt_tokens")),
        count(counts.get("completion_tokens")),
        counts.get("prompt_tokens_details") instanceof Map<?, ?> details
                && details.get("cached_tokens") instanceof Number cached
            ? (Integer) count(cached)
            : null);
  }

  private static int count(@Nullable Object value) {
    return value instanceof Number number
        ? Math.clamp(number.longValue(), 0, Integer.MAX_VALUE)
        : 0;
  }

  /** The last counts that the worker gave; null when it gave none. */
  public @Nullable Usage usage() {
    return usage;
  }

  /**
   * Checks that the answer is complete.
   *
   * @throws EngineFailedException when a choice has no finish reason, or there is none
   */
  public void requireEnd() {
    if (finished.isEmpty()) {
      throw broken("it has no choice");
    }
    finished.forEach(
        (index, ended) -> {
          if (!ended) {
            throw broken("choice %d has no finish_reason".formatted(index));
          }
        });
  }

  /** About how many bytes a chunk adds to the whole answer. */
  public static long textBytes(@Nullable Object value) {
    return switch (value) {
      case String text -> text.length();
      case byte[] bytes -> 2L * bytes.length; // they are written as base64
      case Map<?, ?> map -> map.values().stream().mapToLong(RelayedAnswer::textBytes).sum();
      case List<?> list -> list.stream().mapToLong(RelayedAnswer::textBytes).sum();
      case null, default -> 0;
    };
  }

  /** Adds a chunk to the whole answer. */
  public void add(Map<String, @Nullable Object> chunk) {
    chunk.forEach(
        (key, value) -> {
          if (!CHOICES.equals(key) && value != null) {
            whole.put(key, value);
          }
        });
    for (var each : chunk.get(CHOICES) instanceof List<?> choices ? choices : List.of()) {
      if (each instanceof Map<?, ?> choice && choice.get("index") instanceof Number index) {
        folded.computeIfAbsent(index.intValue(), _ -> new FoldedChoice(form)).add(choice);
      }
    }
  }

  /** The whole answer as UTF-8 JSON. */
  public byte[] write() {
    var answer = new LinkedHashMap<String, @Nullable Object>();
    answer.put("id", whole.get("id"));
    answer.put(
        CHOICES,
        folded.entrySet().stream()
            .map(choice -> choice.getValue().completed(choice.getKey()))
            .toList());
    if (form == Form.COMPLETIONS) {
      answer.put("system_fingerprint", null);
      answer.put("usage", null);
    }
    answer.putAll(whole);
    answer.put("object", form.whole);
    return json(answer);
  }

  /** A chunk as UTF-8 JSON. */
  public byte[] json(Map<String, @Nullable Object> chunk) {
    try {
      return JsonBody.write(chunk);
    } catch (JsonProcessingException e) {
      throw new EngineFailedException(
          ErrorCode.BACKEND_UNKNOWN, "the worker's answer cannot be written as JSON", e);
    }
  }

  /** One choice as it grows. */
  private static final class FoldedChoice {
    private final Form form;
    private final JoinedFields message = new JoinedFields();
    private final JoinedFields logprobs = new JoinedFields();
    private final RelayedCalls calls = new RelayedCalls();
    private final Map<String, @Nullable Object> others = new LinkedHashMap<>();
    private @Nullable String finish;

    FoldedChoice(Form form) {
      this.form = form;
    }

    void add(Map<?, ?> choice) {
      choice.forEach(
          (key, value) -> {
            switch (String.valueOf(key)) {
              case "index" -> {}
              case FINISH -> finish = value instanceof String text ? text : finish;
              case LOGPROBS -> {
                if (value instanceof Map<?, ?> more) {
                  more.forEach(logprobs::add);
                }
              }
              case "text" -> message.add("text", value);
              case "delta" -> {
                if (value instanceof Map<?, ?> delta) {
                  delta.forEach(this::addField);
                }
              }
              case String other -> {
                if (value != null) {
                  others.put(other, value);
                }
              }
            }
          });
    }

    private void addField(Object key, @Nullable Object value) {
      switch (String.valueOf(key)) {
        case "role" -> {} // of an answer there is one
        case "tool_calls" -> calls.add(value);
        default -> message.add(key, value);
      }
    }

    Map<String, @Nullable Object> completed(int index) {
      var fields = message.fields();
      var choice = new LinkedHashMap<String, @Nullable Object>();
      boolean chat = form == Form.CHAT;
      if (chat) {
        choice.put("index", index);
        choice.put("message", message(fields));
      } else {
        choice.put("text", fields.get("text"));
        choice.put("index", index);
      }
      choice.put(FINISH, !calls.isEmpty() && "stop".equals(finish) ? "tool_calls" : finish);
      if (chat || !logprobs.isEmpty()) {
        choice.put(LOGPROBS, logprobs.isEmpty() ? null : logprobs.fields());
      }
      choice.putAll(others);
      return choice;
    }

    private Map<String, @Nullable Object> message(Map<String, @Nullable Object> fields) {
      var answer = new LinkedHashMap<String, @Nullable Object>();
      answer.put("content", "".equals(fields.get("content")) ? null : fields.get("content"));
      if (!calls.isEmpty()) {
        answer.put("tool_calls", calls.whole());
      }
      answer.put("refusal", fields.get("refusal"));
      answer.put("role", "assistant");
      fields.forEach(answer::putIfAbsent);
      return answer;
    }
  }

  private EngineFailedException broken(String reason) {
    return new EngineFailedException(
        ErrorCode.BACKEND_UNKNOWN,
        "the worker's answer is none of %s: %s".formatted(form.whole, reason),
        null);
  }
}
