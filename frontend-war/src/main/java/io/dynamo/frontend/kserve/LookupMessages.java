package io.dynamo.frontend.kserve;

import com.google.protobuf.CodedInputStream;
import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import java.io.IOException;
import java.util.List;

/** Reads and writes the protobuf messages of requests that ask about the server or a model. */
public final class LookupMessages {
  /** The bytes that such a request may have. */
  public static final int MAX_REQUEST = 64 << 10;

  private static final int SERVING = 1;
  private static final int NOT_SERVING = 2;

  private LookupMessages() {}

  /**
   * Reads the model that a request is about: its first two fields.
   *
   * @throws ApiException with 400 or 413 when the message is malformed or too long
   */
  public static NamedModel model(byte[] request) {
    requireShort(request);
    try {
      var in = CodedInputStream.newInstance(request);
      var name = "";
      var version = "";
      for (int tag; (tag = in.readTag()) != 0; ) {
        if (tag == (1 << 3 | 2)) {
          name = in.readStringRequireUtf8();
        } else if (tag == (2 << 3 | 2)) {
          version = in.readStringRequireUtf8();
        } else if (!in.skipField(tag)) {
          throw new IOException("a group ends that did not begin");
        }
      }
      return new NamedModel(name, version);
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  private static ApiException malformed(IOException cause) {
    return new ApiException(ApiError.of(400, "the message is malformed: " + cause.getMessage()));
  }

  private static void requireShort(byte[] request) {
    if (request.length > MAX_REQUEST) {
      throw new ApiException(
          413,
          "a request of %d bytes is longer than the %d that its method takes"
              .formatted(request.length, MAX_REQUEST));
    }
  }

  /** {@code ServerLiveResponse}, {@code ServerReadyResponse} or {@code ModelReadyResponse}. */
  public static byte[] flag(boolean value) {
    return new ProtoBuffer(8).bool(1, value).toByteArray();
  }

  /** gRPC's {@code HealthCheckResponse}. */
  public static byte[] health(boolean serving) {
    return new ProtoBuffer(8).number(1, serving ? SERVING : NOT_SERVING).toByteArray();
  }

  /** The refusal of a question about a service that the port does not have. */
  public static ApiException unknownService(String name) {
    return new ApiException(ApiError.of(404, "there is no service " + ApiError.shown(name)));
  }

  /** {@code ServerMetadataResponse}. */
  public static byte[] serverMetadata(ServerDescription server) {
    var out = new ProtoBuffer(128).string(1, server.name()).string(2, server.version());
    server.extensions().forEach(extension -> out.string(3, extension));
    return out.toByteArray();
  }

  /** {@code ModelMetadataResponse}. */
  public static byte[] modelMetadata(ModelDescription model) {
    var out =
        new ProtoBuffer(256)
            .string(1, model.name())
            .string(2, NamedModel.VERSION)
            .string(3, model.platform());
    model.inputs().forEach(tensor -> tensorMetadata(out, 4, tensor, model.batch()));
    model.outputs().forEach(tensor -> tensorMetadata(out, 5, tensor, model.batch()));
    return out.toByteArray();
  }

  private static void tensorMetadata(ProtoBuffer out, int field, TensorSpec tensor, boolean batch) {
    int opened = out.open(field);
    out.string(1, tensor.name()).string(2, tensor.type().name());
    packed(out, 3, tensor.shape(batch));
    out.close(opened);
  }

  private static void packed(ProtoBuffer out, int field, List<Long> values) {
    if (!values.isEmpty()) {
      int opened = out.open(field);
      values.forEach(out::rawVarint);
      out.close(opened);
    }
  }

  /** {@code ModelConfigResponse}. */
  public static byte[] modelConfig(ModelDescription model) {
    var out = new ProtoBuffer(256);
    var given = model.configuration();
    if (given != null) {
      return out.element(1, given).toByteArray();
    }
    int config = out.open(1);
    out.string(1, model.name()).string(2, ModelDescription.PLATFORM);
    for (var tensor : model.inputs()) {
      int input = out.open(5);
      out.string(1, tensor.name()).number(2, tensor.type().configNumber());
      packed(out, 4, tensor.shape());
      out.bool(8, tensor.optional());
      out.close(input);
    }
    for (var tensor : model.outputs()) {
      int output = out.open(6);
      out.string(1, tensor.name()).number(2, tensor.type().configNumber());
      packed(out, 3, tensor.shape());
      out.close(output);
    }
    out.string(17, ModelDescription.PLATFORM);
    out.close(config);
    return out.toByteArray();
  }

  /**
   * Whether a {@code RepositoryIndexRequest} asks for ready models only.
   *
   * @throws ApiException with 400 or 413 when the message is malformed or too long
   */
  public static boolean readyOnly(byte[] request) {
    requireShort(request);
    try {
      var in = CodedInputStream.newInstance(request);
      boolean ready = false;
      for (int tag; (tag = in.readTag()) != 0; ) {
        if (tag == (2 << 3)) {
          ready = in.readBool();
        } else if (!in.skipField(tag)) {
          throw new IOException("a group ends that did not begin");
        }
      }
      return ready;
    } catch (IOException e) {
      throw malformed(e);
    }
  }

  /** {@code RepositoryIndexResponse}. */
  public static byte[] repositoryIndex(List<ListedModel> models) {
    var out = new ProtoBuffer(256);
    for (var model : models) {
      int entry = out.open(1);
      out.string(1, model.name()).string(2, NamedModel.VERSION);
      out.string(3, model.state()).string(4, model.reason());
      out.close(entry);
    }
    return out.toByteArray();
  }

  /** {@code ModelStatisticsResponse}. */
  public static byte[] modelStatistics(List<ModelStatistics> models) {
    var out = new ProtoBuffer(256);
    for (var model : models) {
      var counts = model.counts();
      int entry = out.open(1);
      out.string(1, model.model()).string(2, NamedModel.VERSION).number(3, counts.lastMillis());
      out.number(4, counts.successes()).number(5, counts.successes());
      int requests = out.open(6);
      duration(out, 1, counts.successes(), counts.successNanos());
      duration(out, 2, counts.failures(), counts.failureNanos());
      out.close(requests);
      out.close(entry);
    }
    return out.toByteArray();
  }

  private static void duration(ProtoBuffer out, int field, long count, long nanos) {
    int opened = out.open(field);
    out.number(1, count).number(2, nanos);
    out.close(opened);
  }
}
