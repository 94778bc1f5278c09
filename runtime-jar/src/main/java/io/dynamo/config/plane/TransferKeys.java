package io.dynamo.config.plane;

import static io.dynamo.config.key.Bound.PORT;
import static io.dynamo.config.key.Bound.WAIT;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.SIZE;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.time.Duration;
import java.util.List;

/** The settings of transfers between workers, in the order of the documentation. */
public final class TransferKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<Boolean> ON_DRAIN =
      KEYS.key(
          "dynamo.transfer.on-drain",
          BOOLEAN,
          "true",
          none(),
          "whether a drain moves the KV blocks of the generations that it hands to other workers,"
              + " so that those compute no prompt again; the `llama` engine can");
  static final SettingKey<Integer> PORT_NUMBER =
      KEYS.key(
          "dynamo.transfer.port",
          INTEGER,
          "0",
          PORT,
          "where other workers write KV blocks to, at `dynamo.request.tcp.host` and with the TLS of"
              + " `dynamo.request.tcp.tls`; bound when the first are offered; 0 lets the system"
              + " choose");
  static final SettingKey<Duration> LEASE =
      KEYS.key(
          "dynamo.transfer.lease",
          DURATION,
          "30s",
          WAIT,
          "how long another worker may take to write blocks that it offered");
  static final SettingKey<Integer> MAX_BYTES =
      KEYS.key(
          "dynamo.transfer.max-bytes",
          SIZE,
          "256MiB",
          sizeBetween(1 << 16, "64KiB", 1 << 30, "1GiB"),
          "KV blocks that other workers may be writing here at once; more are refused");

  static {
    KEYS.addAll(UcxKeys.all());
    KEYS.addAll(NixlKeys.all());
  }

  private TransferKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  public static TransferSettings read(KeyReader reader) {
    return new TransferSettings(
        reader.get(PORT_NUMBER),
        reader.get(LEASE),
        reader.get(MAX_BYTES),
        reader.get(ON_DRAIN),
        UcxKeys.read(reader),
        NixlKeys.read(reader));
  }
}
