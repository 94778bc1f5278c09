package io.dynamo.transfer.nixl;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * The offer of a passive operation: with it, another process reads or writes the memory. Its JSON
 * is that of {@code dynamo.nixl_connect}. Those who have it can reach the memory: it travels on
 * authenticated channels only, and is never logged.
 *
 * @param descriptors the ranges of memory, in order
 * @param nixlMetadata the agent's description, as text
 * @param notificationKey which the other process sends when it is done
 * @param operationKind what the other process may do
 */
public record RdmaMetadata(
    List<SerializedDescriptor> descriptors,
    String nixlMetadata,
    String notificationKey,
    OperationKind operationKind) {
  /** The most descriptors of one operation. */
  public static final int MAX_DESCRIPTORS = 65536;

  /** The most bytes of an agent's description. */
  public static final int MAX_AGENT_BYTES = 8 << 20;

  private static final int MAX_JSON_BYTES = 24 << 20;
  private static final int MAX_KEY_LENGTH = 256;
  private static final Set<String> MEMBERS =
      Set.of("descriptors", "nixl_metadata", "notification_key", "operation_kind");
  private static final Set<String> DESCRIPTOR_MEMBERS = Set.of("device", "ptr", "size");

  /**
   * A range of memory of another process.
   *
   * @param device as {@link Device} writes it
   * @param ptr address, unsigned, not 0
   * @param size in bytes, not negative
   */
  public record SerializedDescriptor(String device, long ptr, long size) {
    public SerializedDescriptor {
      if (ptr == 0) {
        throw new IllegalArgumentException("ptr is 0");
      }
      if (size < 0) {
        throw new IllegalArgumentException("size %d is negative".formatted(size));
      }
    }
  }

  public RdmaMetadata {
    descriptors = List.copyOf(descriptors);
  }

  /** Returns one line of JSON, as Dynamo writes it. */
  public byte[] toJson() {
    return Json.write(
        JsonObject.ordered(
            "descriptors",
            descriptors.stream()
                .map(
                    one ->
                        JsonObject.ordered(
                            "device", one.device,
                            "ptr", Json.unsigned(one.ptr),
                            "size", one.size))
                .toList(),
            "nixl_metadata",
            nixlMetadata,
            "notification_key",
            notificationKey,
            "operation_kind",
            operationKind.number()));
  }

  /**
   * Reads JSON.
   *
   * @throws IllegalArgumentException naming what is wrong; unknown members are
   */
  public static RdmaMetadata of(byte[] json) {
    if (json.length > MAX_JSON_BYTES) {
      throw new IllegalArgumentException(
          "RdmaMetadata of %d bytes exceeds %d; offer fewer descriptors"
              .formatted(json.length, MAX_JSON_BYTES));
    }
    var object = Json.readObject(json);
    requireKnown(object, MEMBERS);
    var descriptors = new ArrayList<SerializedDescriptor>();
    for (var one : object.optionalObjects("descriptors")) {
      if (descriptors.size() == MAX_DESCRIPTORS) {
        throw new IllegalArgumentException("more than %d descriptors".formatted(MAX_DESCRIPTORS));
      }
      descriptors.add(descriptor(one));
    }
    var key = textOrEmpty(object, "notification_key");
    if (key.getBytes(StandardCharsets.UTF_8).length > MAX_KEY_LENGTH) {
      throw new IllegalArgumentException(
          "notification_key exceeds %d bytes".formatted(MAX_KEY_LENGTH));
    }
    var kind = object.optionalLong("operation_kind");
    return new RdmaMetadata(
        descriptors,
        textOrEmpty(object, "nixl_metadata"),
        key,
        kind == null ? OperationKind.UNSPECIFIED : given(OperationKind.of(kind)));
  }

  private static OperationKind given(OperationKind kind) {
    if (kind == OperationKind.UNSPECIFIED) {
      throw new IllegalArgumentException("operation_kind 0 is neither 1 (READ) nor 2 (WRITE)");
    }
    return kind;
  }

  private static SerializedDescriptor descriptor(JsonObject object) {
    requireKnown(object, DESCRIPTOR_MEMBERS);
    var device = object.optionalText("device");
    var word = device == null ? "cpu" : device.strip().toLowerCase(Locale.ROOT);
    if (!word.equals("cpu") && !word.startsWith("cuda") && !word.startsWith("xpu")) {
      throw new IllegalArgumentException("device is not cpu, cuda:<number> or xpu:<number>");
    }
    var size = object.optionalLong("size");
    long bytes = size == null ? 0 : size;
    long address = object.members().get("ptr") == null ? 0 : object.unsigned("ptr");
    if (Long.compareUnsigned(address + bytes, address) < 0) {
      throw new IllegalArgumentException("ptr and size leave the memory of 64 bits");
    }
    var _ = Device.of(word); // throws for a number that is none
    return new SerializedDescriptor(word, address, bytes);
  }

  private static void requireKnown(JsonObject object, Set<String> names) {
    object
        .members()
        .forEach(
            (name, value) -> {
              if (!names.contains(name)) {
                throw new IllegalArgumentException(
                    "member \"%s\" is not known".formatted(shown(name)));
              }
              if (value == null) {
                throw new IllegalArgumentException("member \"%s\" is null".formatted(name));
              }
            });
  }

  private static String shown(String name) {
    return name.length() > 40 ? name.substring(0, 40) + "…" : name;
  }

  private static String textOrEmpty(JsonObject object, String name) {
    var text = object.optionalText(name);
    return text == null ? "" : text;
  }

  /** Without what gives access to the memory. */
  @Override
  public String toString() {
    return "%s of %d descriptors".formatted(operationKind, descriptors.size());
  }
}
