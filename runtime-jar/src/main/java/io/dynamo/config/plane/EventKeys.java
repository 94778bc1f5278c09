package io.dynamo.config.plane;

import static io.dynamo.config.key.Alias.host;
import static io.dynamo.config.key.Alias.plain;
import static io.dynamo.config.key.Bound.between;
import static io.dynamo.config.key.Bound.none;
import static io.dynamo.config.key.Bound.sizeBetween;
import static io.dynamo.config.key.SettingType.INTEGER;
import static io.dynamo.config.key.SettingType.IP_LITERAL;
import static io.dynamo.config.key.SettingType.SIZE;
import static io.dynamo.config.key.SettingType.TEXT;
import static io.dynamo.config.key.SettingType.oneOf;

import io.dynamo.config.key.KeyList;
import io.dynamo.config.key.KeyReader;
import io.dynamo.config.key.SettingKey;
import io.dynamo.config.key.SettingType;
import java.net.InetAddress;
import java.util.List;

/** The settings of the event plane, in the order of the documentation. */
public final class EventKeys {
  private static final KeyList KEYS = new KeyList();

  static final SettingKey<EventSettings.Plane> PLANE =
      KEYS.key(
          "dynamo.event.plane",
          oneOf(EventSettings.Plane.class),
          "zmq",
          none(),
          "how events travel; local stays within this server",
          plain("DYN_EVENT_PLANE"));
  static final SettingKey<Integer> QUEUE_CAPACITY =
      KEYS.key(
          "dynamo.event.queue-capacity",
          INTEGER,
          "100000",
          between(1, 10_000_000),
          "events held per publisher and per subscription; more are dropped and counted",
          plain("DYN_ZMQ_EVENT_SUBSCRIBER_CHANNEL_CAPACITY"));
  static final SettingKey<Integer> QUEUE_BYTES =
      KEYS.key(
          "dynamo.event.queue-bytes",
          SIZE,
          "256MiB",
          sizeBetween(1 << 20, "1MiB", 1 << 30, "1GiB"),
          "bytes of their payloads, per publisher and per subscription; more are dropped and"
              + " counted");
  static final SettingKey<String> ZMQ_BIND =
      KEYS.key(
          "dynamo.event.zmq.bind",
          IP_LITERAL,
          "127.0.0.1",
          none(),
          "where publishers are bound; off loopback only with `dynamo.security.open-planes`");
  static final SettingKey<String> ZMQ_HOST =
      KEYS.key(
          "dynamo.event.zmq.host",
          TEXT,
          "",
          none(),
          "the address that others connect to; absent takes the bound address",
          host("DYN_EVENT_PLANE_HOST"));
  static final SettingKey<Integer> ZMQ_HIGH_WATER_MARK =
      KEYS.key(
          "dynamo.event.zmq.high-water-mark",
          INTEGER,
          "100000",
          between(1, 10_000_000),
          "events that wait for one subscriber of a publisher, 16 MiB of them at most; more are"
              + " dropped for it alone and counted");
  static final SettingKey<Integer> ZMQ_MAX_MESSAGE =
      KEYS.key(
          "dynamo.event.zmq.max-message",
          SIZE,
          "16MiB",
          sizeBetween(1 << 10, "1KiB", 1 << 30, "1GiB"),
          "one event on the wire; a publisher that announces more is disconnected");
  static final SettingKey<ZmqBroker> ZMQ_BROKER =
      KEYS.key(
          "dynamo.event.zmq.broker",
          new SettingType<>("xsub=tcp://host:port[;…], xpub=tcp://host:port[;…]", ZmqBroker::parse),
          "",
          none(),
          "what events go through: any XSUB/XPUB proxy, several for safety; absent, publishers are"
              + " found through discovery",
          plain("DYN_ZMQ_BROKER_URL"));

  private EventKeys() {}

  public static List<SettingKey<?>> all() {
    return KEYS.all();
  }

  /**
   * Refuses addresses that other machines can reach without consent, and addresses that cannot be
   * connected to.
   *
   * @param openPlanes the consent
   */
  public static void check(KeyReader reader, SettingKey<Boolean> openPlanes) {
    reader.requireLoopback(ZMQ_BIND, openPlanes);
    var bind = reader.optional(ZMQ_BIND);
    if (bind == null) {
      return;
    }
    var host = reader.optional(ZMQ_HOST);
    if (host != null) {
      if (KeyReader.isLoopback(bind) && !KeyReader.isLoopback(host)) {
        reader.addProblem(
            "%s = \"%s\" is what others connect to, but %s = \"%s\" hears this machine only; bind an address that is reachable there"
                .formatted(ZMQ_HOST.name(), host, ZMQ_BIND.name(), bind));
      }
    } else if (InetAddress.ofLiteral(bind).isAnyLocalAddress()) {
      reader.addProblem(
          "%s = \"%s\" stands for every address of this host; say with %s which of them others connect to"
              .formatted(ZMQ_BIND.name(), bind, ZMQ_HOST.name()));
    }
  }

  public static EventSettings read(KeyReader reader) {
    return new EventSettings(
        reader.get(PLANE),
        reader.get(ZMQ_BIND),
        reader.optional(ZMQ_HOST),
        reader.get(QUEUE_CAPACITY),
        reader.get(QUEUE_BYTES),
        reader.get(ZMQ_HIGH_WATER_MARK),
        reader.get(ZMQ_MAX_MESSAGE),
        reader.optional(ZMQ_BROKER));
  }
}
