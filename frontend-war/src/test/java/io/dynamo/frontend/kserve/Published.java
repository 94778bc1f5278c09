package io.dynamo.frontend.kserve;

import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.TextFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * The published messages of KServe's gRPC service, as protobuf's own library reads and writes them:
 * {@code published.desc} holds the compiled descriptors that Triton's client for Python 2.73.0
 * carries.
 */
public final class Published {
  private static final FileDescriptor SERVICE = load();

  private Published() {}

  private static FileDescriptor load() {
    try (var in = Published.class.getResourceAsStream("published.desc")) {
      var set = FileDescriptorSet.parseFrom(Objects.requireNonNull(in));
      var config = FileDescriptor.buildFrom(set.getFile(0), new FileDescriptor[0]);
      return FileDescriptor.buildFrom(set.getFile(1), new FileDescriptor[] {config});
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (DescriptorValidationException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Descriptor type(String message) {
    return Objects.requireNonNull(SERVICE.findMessageTypeByName(message), message);
  }

  /** Encodes a message that is written in protobuf's text format. */
  public static byte[] encode(String message, String text) {
    var builder = DynamicMessage.newBuilder(type(message));
    try {
      TextFormat.merge(text, builder);
    } catch (TextFormat.ParseException e) {
      throw new IllegalArgumentException(text, e);
    }
    return builder.build().toByteArray();
  }

  /** Decodes a message into protobuf's text format, on one line. */
  public static String decode(String message, byte[] bytes) {
    try {
      var decoded = DynamicMessage.parseFrom(type(message), bytes);
      return TextFormat.printer().shortDebugString(decoded);
    } catch (InvalidProtocolBufferException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
