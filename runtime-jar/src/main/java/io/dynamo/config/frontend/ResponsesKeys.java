package io.dynamo.config.frontend;

import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.LARGE_SIZE;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.SIZE;
import static io.dynamo.config.key.SettingType.TEXT;

import io.dynamo.config.frontend.ResponsesSettings.Storing;
import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The settings of stored responses, in the order of the documentation. */
public final class ResponsesKeys {
  private static final String POSTGRESQL = "jdbc:postgresql:";
  private static final SettingType<String> SECRET = new SettingType<>("text", text -> text, true);
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Storing> STORE =
      KEYS.key(
          "dynamo.frontend.responses.store",
          SettingType.oneOf(Storing.class),
          "on-request",
          none(),
          "which responses are stored: those whose request has `\"store\": true`; all but those"
              + " whose request has `false`, as OpenAI does; or none");
  static final SettingKey<String> DATABASE =
      KEYS.key(
          "dynamo.frontend.responses.database",
          new SettingType<>("URL that begins with jdbc:postgresql:", ResponsesKeys::postgresql),
          "",
          none(),
          "the PostgreSQL database that stores responses, for all frontends that name it; absent"
              + " keeps them in an embedded database of this server");
  static final SettingKey<String> USER =
      KEYS.key(
          "dynamo.frontend.responses.database-user",
          TEXT,
          "",
          none(),
          "the user of that database, who may create a table or finds `dynamo_responses` there");
  static final SettingKey<String> PASSWORD =
      KEYS.key(
          "dynamo.frontend.responses.database-password",
          SECRET,
          "",
          none(),
          "the password of that user");
  static final SettingKey<Path> FOLDER =
      KEYS.key(
          "dynamo.frontend.responses.folder",
          PATH,
          "${server.output.dir}/responses",
          none(),
          "the folder of the embedded database: made with mode 700 when the first response is"
              + " stored; refused when it belongs to somebody else or is a link");
  static final SettingKey<Duration> MAX_AGE =
      KEYS.key(
          "dynamo.frontend.responses.max-age",
          DURATION,
          "720h",
          between(Duration.ofSeconds(1), "1s", Duration.ofDays(3650), "87600h"),
          "how long a response is kept");
  static final SettingKey<Integer> MAX_RESPONSES =
      KEYS.key(
          "dynamo.frontend.responses.max-responses",
          INTEGER,
          "100000",
          between(1, 100_000_000),
          "responses that are kept; the oldest are deleted first, a sixteenth of them at once");
  static final SettingKey<Long> MAX_BYTES =
      KEYS.key(
          "dynamo.frontend.responses.max-bytes",
          LARGE_SIZE,
          "1GiB",
          new Bound<>("1MiB to 1024GiB", value -> value >= 1L << 20 && value <= 1L << 40),
          "bytes of all responses that are kept; the oldest are deleted first, a sixteenth of them"
              + " at once");
  static final SettingKey<Integer> MAX_INPUT =
      KEYS.key(
          "dynamo.frontend.responses.max-input",
          SIZE,
          "8MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "the input of one response that is stored; below `queue-bytes` and `max-bytes`");
  static final SettingKey<Integer> QUEUE_BYTES =
      KEYS.key(
          "dynamo.frontend.responses.queue-bytes",
          SIZE,
          "32MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "memory for responses that wait to be written, while the database is down for example;"
              + " more are lost and counted");

  static final SettingKey<Integer> MAX_CONVERSATIONS =
      KEYS.key(
          "dynamo.frontend.responses.max-conversations",
          INTEGER,
          "10000",
          between(1, 10_000_000),
          "conversations that are kept; those that were not used for longest are deleted first, a"
              + " sixteenth of them at once");
  static final SettingKey<Long> MAX_CONVERSATION_BYTES =
      KEYS.key(
          "dynamo.frontend.responses.max-conversation-bytes",
          LARGE_SIZE,
          "1GiB",
          new Bound<>("1MiB to 1024GiB", value -> value >= 1L << 20 && value <= 1L << 40),
          "bytes of all conversations that are kept; those that were not used for longest are"
              + " deleted first, a sixteenth of them at once");

  private ResponsesKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /** Reports bounds that no stored response could meet. */
  public static List<String> problems(KeyReader reader) {
    var problems = new ArrayList<String>();
    var input = reader.optional(MAX_INPUT);
    if (input == null) {
      return problems; // reported already
    }
    var queue = reader.optional(QUEUE_BYTES);
    if (queue != null && input >= queue) {
      problems.add(tooLarge(input, QUEUE_BYTES, queue));
    }
    var all = reader.optional(MAX_BYTES);
    if (all != null && input >= all) {
      problems.add(tooLarge(input, MAX_BYTES, all));
    }
    return problems;
  }

  private static String tooLarge(int input, SettingKey<?> bound, long bytes) {
    return "%s = %d bytes is not below %s = %d bytes, so that a long input would be taken and then lost; lower the one or raise the other"
        .formatted(MAX_INPUT.name(), input, bound.name(), bytes);
  }

  static ResponsesSettings read(KeyReader reader) {
    return new ResponsesSettings(
        reader.get(STORE),
        reader.optional(DATABASE),
        reader.optional(USER),
        reader.optional(PASSWORD),
        reader.get(FOLDER),
        reader.get(MAX_AGE),
        reader.get(MAX_RESPONSES),
        reader.get(MAX_BYTES),
        reader.get(MAX_INPUT),
        reader.get(QUEUE_BYTES),
        new ConversationBounds(reader.get(MAX_CONVERSATIONS), reader.get(MAX_CONVERSATION_BYTES)));
  }

  private static String postgresql(String text) {
    if (!text.startsWith(POSTGRESQL)) {
      throw new IllegalArgumentException("does not begin with " + POSTGRESQL);
    }
    if (text.toLowerCase(Locale.ROOT).contains("password=")) {
      throw new IllegalArgumentException(
          "has a password, which would be shown in listings of settings; set"
              + " dynamo.frontend.responses.database-password");
    }
    return text;
  }
}
