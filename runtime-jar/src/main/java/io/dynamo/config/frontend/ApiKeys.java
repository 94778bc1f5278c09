package io.dynamo.config.frontend;

import static io.dynamo.config.key.Alias.negated;
import static io.dynamo.config.key.Alias.numbered;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.WAIT_OR_NEVER;
import static io.dynamo.config.key.Bound.atLeast;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.NAME;
import static io.dynamo.config.key.SettingType.PATH;

import io.dynamo.config.frontend.ApiSettings.ReasoningField;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** The settings of the frontend's API, in the order of the documentation, and their aliases. */
public final class ApiKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Boolean> IGNORE_UNKNOWN_FIELDS =
      KEYS.key(
          "dynamo.frontend.ignore-unknown-fields",
          BOOLEAN,
          "false",
          none(),
          "whether top-level fields of a request that nobody knows are dropped, not refused",
          plain("DYN_IGNORE_OPENAI_FE_UNSUPPORTED_FIELDS"));
  static final SettingKey<Boolean> FORCE_USAGE =
      KEYS.key(
          "dynamo.frontend.force-usage",
          BOOLEAN,
          "false",
          none(),
          "whether every stream ends with its usage, asked for or not",
          plain("DYN_ENABLE_FORCE_INCLUDE_USAGE"));
  static final SettingKey<Boolean> NVEXT =
      KEYS.key(
          "dynamo.frontend.nvext",
          BOOLEAN,
          "true",
          none(),
          "whether `nvext` and the headers that route are heeded; otherwise they are dropped",
          negated("DYN_DISABLE_FRONTEND_NVEXT"));
  static final SettingKey<String> METADATA_HEADER =
      KEYS.key(
          "dynamo.frontend.metadata-header",
          new SettingType<>("beginning of header names", ApiKeys::headerPrefix),
          "x-dynamo-meta-",
          none(),
          "headers that begin so go to the workers as pairs",
          plain("DYN_METADATA_HEADER"));
  static final SettingKey<Integer> CONTEXT_WINDOW =
      KEYS.key(
          "dynamo.frontend.context-window",
          INTEGER,
          "",
          atLeast(1),
          "`context_window` in the list of models; absent takes the model's own",
          plain("DYN_CONTEXT_WINDOW"));
  static final SettingKey<Integer> MAX_OUTPUT_TOKENS =
      KEYS.key(
          "dynamo.frontend.max-output-tokens",
          INTEGER,
          "",
          atLeast(1),
          "`max_output_tokens` in the list of models; absent leaves it out",
          plain("DYN_MAX_OUTPUT_TOKENS"));
  static final SettingKey<Duration> KEEP_ALIVE =
      KEYS.key(
          "dynamo.frontend.keep-alive",
          DURATION,
          "0s",
          WAIT_OR_NEVER,
          "silence of a stream after its first token before a comment is sent; 0s never",
          numbered("DYN_HTTP_SSE_KEEP_ALIVE_INTERVAL_MS", "ms"));
  static final SettingKey<ReasoningField> REASONING_FIELD =
      KEYS.key(
          "dynamo.frontend.reasoning-field-name",
          new SettingType<>("reasoning_content or reasoning", ReasoningField::parse),
          "reasoning_content",
          none(),
          "what the thoughts of a message are called in answers",
          plain("DYN_REASONING_FIELD_NAME"));
  static final SettingKey<Boolean> TOOL_CALL_DISPATCH =
      KEYS.key(
          "dynamo.frontend.tool-call-dispatch",
          BOOLEAN,
          "false",
          none(),
          "whether chat streams have an event `tool_call_dispatch` with each tool call as soon as"
              + " it is whole",
          plain("DYN_ENABLE_STREAMING_TOOL_DISPATCH"));
  static final SettingKey<Boolean> REASONING_DISPATCH =
      KEYS.key(
          "dynamo.frontend.reasoning-dispatch",
          BOOLEAN,
          "false",
          none(),
          "whether chat streams have an event `reasoning_dispatch` with the whole thoughts as soon"
              + " as they end",
          plain("DYN_ENABLE_STREAMING_REASONING_DISPATCH"));
  static final SettingKey<Boolean> HIDE_TOOLS =
      KEYS.key(
          "dynamo.frontend.exclude-tools-when-tool-choice-none",
          BOOLEAN,
          "true",
          none(),
          "whether the template sees no tools when `tool_choice` is none; a model's card may keep"
              + " them too",
          plain("DYN_EXCLUDE_TOOLS_WHEN_TOOL_CHOICE_NONE"));
  static final SettingKey<Path> REQUEST_TEMPLATE =
      KEYS.key(
          "dynamo.frontend.request-template",
          PATH,
          "",
          none(),
          "a JSON file with `model`, `temperature` and `max_completion_tokens` for chat requests"
              + " that do not say");
  static final SettingKey<Duration> DRAIN_TIMEOUT =
      KEYS.key(
          "dynamo.frontend.drain-timeout",
          DURATION,
          "25s",
          WAIT_OR_NEVER,
          "how long streams may take to end when the frontend stops, within"
              + " `dynamo.runtime.drain-timeout`",
          numbered("DYN_HTTP_GRACEFUL_SHUTDOWN_TIMEOUT_SECS", "s"));
  static final SettingKey<Integer> MIGRATION_MAX_TOKENS =
      KEYS.key(
          "dynamo.frontend.migration-max-seq-len",
          INTEGER,
          "",
          atLeast(1),
          "tokens of prompt and answer above which a generation does not move; absent is no bound",
          plain("DYN_MIGRATION_MAX_SEQ_LEN"));
  static final SettingKey<String> NAMESPACE =
      KEYS.key(
          "dynamo.frontend.namespace",
          NAME,
          "",
          none(),
          "the only namespace whose models the frontend serves; absent serves all",
          plain("DYN_NAMESPACE"));
  static final SettingKey<String> NAMESPACE_PREFIX =
      KEYS.key(
          "dynamo.frontend.namespace-prefix",
          NAME,
          "",
          none(),
          "how the namespaces begin whose models the frontend serves; end it in a separator, since"
              + " `prod` also begins `production`",
          plain("DYN_NAMESPACE_PREFIX"));

  private ApiKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static ApiSettings read(KeyReader reader) {
    return new ApiSettings(
        reader.get(IGNORE_UNKNOWN_FIELDS),
        reader.get(FORCE_USAGE),
        reader.get(NVEXT),
        reader.get(METADATA_HEADER),
        reader.optional(CONTEXT_WINDOW),
        reader.optional(MAX_OUTPUT_TOKENS),
        reader.get(KEEP_ALIVE),
        reader.get(REASONING_FIELD),
        new DispatchEvents(reader.get(TOOL_CALL_DISPATCH), reader.get(REASONING_DISPATCH)),
        reader.get(HIDE_TOOLS),
        reader.optional(REQUEST_TEMPLATE),
        reader.get(DRAIN_TIMEOUT),
        reader.optional(MIGRATION_MAX_TOKENS),
        reader.optional(NAMESPACE),
        reader.optional(NAMESPACE_PREFIX));
  }

  private static String headerPrefix(String text) {
    var prefix = text.toLowerCase(Locale.ROOT);
    if (!prefix.matches("[a-z0-9!#$%&'*+.^_`|~-]+")) {
      throw new IllegalArgumentException("holds what a header's name may not");
    }
    return prefix;
  }
}
