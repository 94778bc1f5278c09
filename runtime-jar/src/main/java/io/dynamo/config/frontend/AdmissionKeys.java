package io.dynamo.config.frontend;

import static io.dynamo.config.key.Alias.negated;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;

import io.dynamo.config.key.Bound;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The settings of the frontend's admission, in the order of the documentation. */
public final class AdmissionKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Integer> RUNNING =
      KEYS.key(
          "dynamo.frontend.admission.max-running",
          INTEGER,
          "2048",
          between(1, 1_000_000),
          "texts of one model that run at once (a request with `n` counts `n` times); more wait for their turn");
  static final SettingKey<Integer> WAITING =
      KEYS.key(
          "dynamo.frontend.admission.max-waiting",
          INTEGER,
          "1024",
          between(0, 1_000_000),
          "requests of one model that may wait; more are answered 429");
  static final SettingKey<Duration> WAIT =
      KEYS.key(
          "dynamo.frontend.admission.max-wait",
          DURATION,
          "10s",
          Bound.WAIT,
          "how long a request may wait; then it is answered 429");
  static final SettingKey<Map<String, ModelBounds>> MODELS =
      KEYS.key(
          "dynamo.frontend.admission.models",
          ModelBounds.BY_MODEL,
          "",
          none(),
          "bounds of single models in place of those three, as in `org/big=64/128/20s`");
  static final SettingKey<Integer> OVERLOAD_STATUS =
      KEYS.key(
          "dynamo.frontend.overload-status",
          INTEGER,
          "",
          between(400, 599),
          "status of every refusal for want of room; absent: 429 for a model's bound, 503 for the"
              + " server's, 529 when all workers are busy",
          plain("DYN_HTTP_OVERLOAD_STATUS_CODE"));
  static final SettingKey<Boolean> ADMIN_API =
      KEYS.key(
          "dynamo.frontend.admin-api",
          BOOLEAN,
          "true",
          none(),
          "whether there is `/busy_threshold`",
          negated("DYN_DISABLE_FRONTEND_ADMIN_API"));

  private AdmissionKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static FrontendAdmission read(KeyReader reader) {
    var byModel = reader.optional(MODELS);
    return new FrontendAdmission(
        new ModelBounds(reader.get(RUNNING), reader.get(WAITING), reader.get(WAIT)),
        byModel == null ? Map.of() : byModel,
        reader.optional(OVERLOAD_STATUS));
  }
}
