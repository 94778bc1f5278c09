package io.dynamo.wire.kv;

import io.dynamo.kv.ObjectEvent;
import io.dynamo.wire.Keys;
import io.dynamo.wire.WireReader;
import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads the events that Mooncake's master publishes about its objects: {@code [timestamp_ms,
 * [event, …], dp_rank]} in msgpack, each event a map. Events of other kinds and without a key are
 * skipped. Stateless.
 *
 * @see <a href="https://github.com/kvcache-ai/Mooncake/tree/main/docs/source/design/kv-event">the
 *     publisher's design</a>
 */
public final class ObjectEventCodec {
  /** The positions of the names in {@link #KEYS}. */
  private static final class Field {
    static final int EVENT_TYPE = 0;
    static final int TENANT_ID = 1;
    static final int MEDIUM = 2;
    static final int OBJECT_KEY = 3;
    static final Keys KEYS =
        new Keys(
            Keys.entry(EVENT_TYPE, "event_type"),
            Keys.entry(TENANT_ID, "tenant_id"),
            Keys.entry(MEDIUM, "medium"),
            Keys.entry(OBJECT_KEY, "object_key"));
  }

  private static final String DISK = "disk";

  private ObjectEventCodec() {}

  /**
   * Reads a whole payload.
   *
   * @throws IllegalArgumentException when it is not such a batch
   */
  public static List<ObjectEvent> decode(byte[] payload) {
    return EventBatch.decode("object event payload", payload, ObjectEventCodec::readEvent);
  }

  private static @Nullable ObjectEvent readEvent(WireReader in) throws IOException {
    String type = null;
    String tenant = null;
    String medium = null;
    String key = null;
    in.beginMap();
    for (int field = in.nextKey(Field.KEYS); field != Keys.END; field = in.nextKey(Field.KEYS)) {
      switch (field) {
        case Field.EVENT_TYPE -> type = in.string();
        case Field.TENANT_ID -> tenant = text(in);
        case Field.MEDIUM -> medium = text(in);
        case Field.OBJECT_KEY -> key = text(in);
        default -> in.skip();
      }
    }
    if (type == null) {
      throw new IOException("an event without event_type");
    }
    var whose = tenant == null || tenant.isEmpty() ? ObjectEvent.DEFAULT_TENANT : tenant;
    if (type.equals("cleared")) {
      return new ObjectEvent.Cleared(whose);
    }
    if (key == null) {
      return null;
    }
    return switch (type) {
      case "stored" -> new ObjectEvent.Stored(whose, key, medium(medium));
      case "removed" -> new ObjectEvent.Removed(whose, key, medium == null ? null : medium(medium));
      default -> null;
    };
  }

  private static @Nullable String text(WireReader in) throws IOException {
    return in.isNil() ? null : in.string();
  }

  private static ObjectEvent.Medium medium(@Nullable String name) {
    return DISK.equals(name) ? ObjectEvent.Medium.DISK : ObjectEvent.Medium.MEMORY;
  }
}
