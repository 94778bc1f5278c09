package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.SettingType.BOOLEAN;
import static io.dynamo.config.key.SettingType.DURATION;
import static io.dynamo.config.key.SettingType.PATH;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.Alias;
import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** The settings of discovery, in the order of the documentation. */
public final class DiscoveryKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<DiscoverySettings.Backend> BACKEND =
      KEYS.key(
          "dynamo.discovery.backend",
          oneOf(DiscoverySettings.Backend.class),
          "memory",
          none(),
          "who keeps the records of instances and models",
          new Alias("DYN_DISCOVERY_BACKEND", "", text -> text.equals("mem") ? "memory" : text));
  static final SettingKey<Path> FILE_ROOT =
      KEYS.key(
          "dynamo.discovery.file-root",
          PATH,
          "${TMPDIR:/tmp}/dynamo_store_kv",
          none(),
          "the store of the file backend, one folder for all processes of a user: made with mode"
              + " 700; refused when it belongs to somebody else, is a link or can be written by"
              + " others",
          plain("DYN_FILE_KV"));
  static final SettingKey<Boolean> FILE_SHARED =
      KEYS.key(
          "dynamo.discovery.file-shared",
          BOOLEAN,
          "false",
          none(),
          "uses that folder as it is found and trusts the records of everybody who can write it");
  static final SettingKey<Duration> LEASE_TTL =
      KEYS.key(
          "dynamo.discovery.lease-ttl",
          DURATION,
          "10s",
          between(Duration.ofSeconds(2), "2s", Duration.ofHours(1), "1h"),
          "how long a record of the file backend outlives the last sign of life of its owner;"
              + " Dynamo's own processes assume 10s");

  private DiscoveryKeys() {}

  public static List<SettingKey<?>> all() {
    var keys = new KeyList();
    keys.addAll(KEYS.all());
    keys.addAll(EtcdKeys.all());
    keys.addAll(KubernetesKeys.all());
    return keys.all();
  }

  /** Refuses settings that do not fit each other. */
  public static void check(KeyReader reader) {
    EtcdKeys.check(reader);
  }

  public static DiscoverySettings read(KeyReader reader) {
    return new DiscoverySettings(
        reader.get(BACKEND),
        reader.get(FILE_ROOT),
        reader.get(FILE_SHARED),
        reader.get(LEASE_TTL),
        EtcdKeys.read(reader),
        KubernetesKeys.read(reader),
        ModelFileKeys.read(reader));
  }
}
