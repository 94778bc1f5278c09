package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.kserve.ListedModel;
import io.dynamo.frontend.kserve.ModelDescription;
import io.dynamo.frontend.kserve.ModelStatistics;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.ServerDescription;
import io.dynamo.frontend.kserve.TensorSpec;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.tensor.TensorType;
import java.util.List;
import java.util.function.BiConsumer;

/** Writes what KServe's REST routes tell about the server and its models, as JSON. */
public final class KserveLookups {
  private static final List<String> UNCOUNTED =
      List.of(
          "queue", "compute_input", "compute_infer", "compute_output", "cache_hit", "cache_miss");

  private KserveLookups() {}

  /** An object with one flag. */
  public static byte[] flag(String name, boolean value) {
    return new ByteText(32)
        .ascii("{")
        .quoted(name)
        .ascii(value ? ":true}" : ":false}")
        .toByteArray();
  }

  public static byte[] modelReady(String model, boolean ready) {
    return new ByteText(64)
        .ascii("{\"name\":")
        .quoted(model)
        .ascii(ready ? ",\"ready\":true}" : ",\"ready\":false}")
        .toByteArray();
  }

  public static byte[] server(ServerDescription server) {
    var json = new ByteText(128).ascii("{\"name\":").quoted(server.name());
    json.ascii(",\"version\":").quoted(server.version()).ascii(",\"extensions\":");
    list(json, server.extensions(), (to, extension) -> to.quoted(extension));
    return json.ascii("}").toByteArray();
  }

  public static byte[] model(ModelDescription model) {
    var json = new ByteText(256).ascii("{\"name\":").quoted(model.name());
    json.ascii(",\"versions\":[\"").ascii(NamedModel.VERSION).ascii("\"],\"platform\":");
    json.quoted(model.platform()).ascii(",\"inputs\":");
    list(json, model.inputs(), (to, tensor) -> metadata(to, tensor, model.batch()));
    json.ascii(",\"outputs\":");
    list(json, model.outputs(), (to, tensor) -> metadata(to, tensor, model.batch()));
    return json.ascii("}").toByteArray();
  }

  private static void metadata(ByteText json, TensorSpec tensor, boolean batch) {
    json.ascii("{\"name\":").quoted(tensor.name()).ascii(",\"datatype\":\"");
    json.ascii(tensor.type().name()).ascii("\",\"shape\":");
    list(json, tensor.shape(batch), (to, dimension) -> to.number(dimension));
    json.ascii("}");
  }

  public static byte[] config(ModelDescription model) {
    var json = new ByteText(256).ascii("{\"name\":").quoted(model.name());
    json.ascii(",\"platform\":").quoted(model.platform()).ascii(",\"backend\":\"");
    json.ascii(ModelDescription.PLATFORM).ascii("\",\"max_batch_size\":");
    json.number(model.maxBatchSize()).ascii(",\"input\":");
    list(json, model.inputs(), KserveLookups::configuration);
    json.ascii(",\"output\":");
    list(json, model.outputs(), KserveLookups::configuration);
    return json.ascii("}").toByteArray();
  }

  private static void configuration(ByteText json, TensorSpec tensor) {
    json.ascii("{\"name\":").quoted(tensor.name()).ascii(",\"data_type\":\"TYPE_");
    json.ascii(tensor.type() == TensorType.BYTES ? "STRING" : tensor.type().name());
    json.ascii("\",\"dims\":");
    list(json, tensor.shape(), (to, dimension) -> to.number(dimension));
    json.ascii(tensor.optional() ? ",\"optional\":true}" : "}");
  }

  public static byte[] index(List<ListedModel> models) {
    var json = new ByteText(128);
    list(
        json,
        models,
        (to, model) -> {
          to.ascii("{\"name\":").quoted(model.name()).ascii(",\"version\":\"");
          to.ascii(NamedModel.VERSION).ascii("\",\"state\":\"").ascii(model.state());
          to.ascii("\",\"reason\":").quoted(model.reason()).ascii("}");
        });
    return json.toByteArray();
  }

  /** The counts of models; those that nobody takes are 0, as they are in the message of gRPC. */
  public static byte[] statistics(List<ModelStatistics> models) {
    var json = new ByteText(256).ascii("{\"model_stats\":");
    list(
        json,
        models,
        (to, model) -> {
          var counts = model.counts();
          to.ascii("{\"name\":").quoted(model.model()).ascii(",\"version\":\"");
          to.ascii(NamedModel.VERSION).ascii("\",\"last_inference\":").number(counts.lastMillis());
          to.ascii(",\"inference_count\":").number(counts.successes());
          to.ascii(",\"execution_count\":").number(counts.successes());
          to.ascii(",\"inference_stats\":{\"success\":");
          duration(to, counts.successes(), counts.successNanos());
          to.ascii(",\"fail\":");
          duration(to, counts.failures(), counts.failureNanos());
          for (var uncounted : UNCOUNTED) {
            to.ascii(",").quoted(uncounted).ascii(":");
            duration(to, 0, 0);
          }
          to.ascii("},\"batch_stats\":[]}");
        });
    return json.ascii("}").toByteArray();
  }

  private static void duration(ByteText json, long count, long nanos) {
    json.ascii("{\"count\":").number(count).ascii(",\"ns\":").number(nanos).ascii("}");
  }

  private static <T> void list(ByteText json, List<T> values, BiConsumer<ByteText, T> writing) {
    json.ascii("[");
    for (int i = 0; i < values.size(); i++) {
      json.ascii(i == 0 ? "" : ",");
      writing.accept(json, values.get(i));
    }
    json.ascii("]");
  }
}
