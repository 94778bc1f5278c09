package io.dynamo.router.pool;

import io.dynamo.event.RawStreams;
import io.dynamo.metrics.Metrics;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;

/** Event streams of Mooncake stores that the test controls; they run on its thread. */
final class FakeStreams implements RawStreams {
  /** A change of an object; null fields are left out. */
  record Change(
      String type, @Nullable String key, @Nullable String tenant, @Nullable String medium) {
    static Change stored(String key) {
      return new Change("stored", key, "default", "cpu");
    }

    static Change removed(String key) {
      return new Change("removed", key, "default", "cpu");
    }
  }

  private final Map<String, Listener> listeners = new HashMap<>();
  private final Map<String, Metrics.Counter> dropped = new HashMap<>();
  private final Map<String, Long> numbers = new HashMap<>();

  @Override
  public RawSubscription follow(
      String what, String endpoint, int frames, Metrics.Counter dropped, Listener listener) {
    if (frames != 3 || listeners.put(endpoint, listener) != null) {
      throw new AssertionError(endpoint);
    }
    this.dropped.put(endpoint, dropped);
    return () -> listeners.remove(endpoint, listener);
  }

  @Override
  public RawSubscription pull(
      String what,
      InetSocketAddress address,
      int frames,
      int maxFrameBytes,
      Metrics.Counter dropped,
      Listener listener) {
    throw new AssertionError("pools are followed");
  }

  /** Returns the addresses that are followed. */
  List<String> followed() {
    return listeners.keySet().stream().sorted().toList();
  }

  Listener at(String endpoint) {
    var listener = listeners.get(endpoint);
    if (listener == null) {
      throw new AssertionError("nobody hears " + endpoint);
    }
    return listener;
  }

  /** Sends the next message. */
  void tell(String endpoint, Change... changes) {
    tellAs(numbers.merge(endpoint, 1L, Long::sum), endpoint, changes);
  }

  /** Sends a message with that number; the next message gets the number after it. */
  void tellAs(long number, String endpoint, Change... changes) {
    numbers.put(endpoint, number);
    message(endpoint, ByteBuffer.allocate(Long.BYTES).putLong(number).array(), payload(changes));
  }

  /** Sends raw frames; a message that cannot be decoded is counted, as by a real stream. */
  void message(String endpoint, byte[] number, byte[] payload) {
    try {
      at(endpoint).message(new byte[][] {{}, number, payload});
    } catch (IOException e) {
      var counter = dropped.get(endpoint);
      if (counter != null) {
        counter.increment();
      }
    }
  }

  private static byte[] payload(Change... changes) {
    try (var packer = MessagePack.newDefaultBufferPacker()) {
      packer.packArrayHeader(3).packLong(1).packArrayHeader(changes.length);
      for (var change : changes) {
        var fields = new ArrayList<Map.Entry<String, String>>();
        add(fields, "event_type", change.type);
        add(fields, "object_key", change.key);
        add(fields, "tenant_id", change.tenant);
        add(fields, "medium", change.medium);
        packer.packMapHeader(fields.size());
        for (var field : fields) {
          packer.packString(field.getKey()).packString(field.getValue());
        }
      }
      packer.packInt(0);
      packer.flush();
      return packer.toByteArray();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static void add(
      List<Map.Entry<String, String>> fields, String name, @Nullable String value) {
    if (value != null) {
      fields.add(Map.entry(name, value));
    }
  }

  @Override
  public void close() {}
}
