package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.kserve.NamedModel;
import io.dynamo.frontend.kserve.TextTensors;
import io.dynamo.frontend.sse.ByteText;
import io.dynamo.inference.Usage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Writes texts as the JSON of KServe's REST route. Outputs that the client wants as bytes stand
 * behind the JSON; the answer then begins with the length of its JSON in four bytes, the highest
 * first, which its sender takes off.
 */
final class KserveJsonAnswer implements TokenFormat {
  private final KserveRequest request;
  private final String model;

  KserveJsonAnswer(KserveRequest request, String model) {
    this.request = request;
    this.model = model;
  }

  @Override
  public byte[] whole(List<Part> choices, Usage usage) {
    var json = new ByteText(256);
    var binary = new ByteText(64);
    json.ascii("{\"model_name\":").quoted(model);
    json.ascii(",\"model_version\":\"").ascii(NamedModel.VERSION).ascii("\"");
    if (!request.id().isEmpty()) {
      json.ascii(",\"id\":").quoted(request.id());
    }
    json.ascii(",\"outputs\":[");
    output(TextTensors.TEXT_OUTPUT, choices, Part::text, json, binary);
    if (request.outputs().size() > 1) {
      json.ascii(",");
    }
    output(TextTensors.FINISH_REASON, choices, KserveReader::finish, json, binary);
    json.ascii("]}");
    if (request.binary().isEmpty()) {
      return json.toByteArray();
    }
    return ByteBuffer.allocate(Integer.BYTES + json.size() + binary.size())
        .putInt(json.size())
        .put(json.toByteArray())
        .put(binary.toByteArray())
        .array();
  }

  private void output(
      String name, List<Part> parts, Function<Part, String> value, ByteText json, ByteText binary) {
    if (!request.outputs().contains(name)) {
      return;
    }
    json.ascii("{\"name\":").quoted(name).ascii(",\"datatype\":\"BYTES\",\"shape\":[");
    json.number(parts.size()).ascii("],");
    if (request.binary().contains(name)) {
      int before = binary.size();
      parts.forEach(part -> appendRaw(value.apply(part), binary));
      json.ascii("\"parameters\":{\"binary_data_size\":").number(binary.size() - before);
      json.ascii("}}");
      return;
    }
    json.ascii("\"data\":[");
    for (int i = 0; i < parts.size(); i++) {
      json.ascii(i == 0 ? "" : ",").quoted(value.apply(parts.get(i)));
    }
    json.ascii("]}");
  }

  private static void appendRaw(String text, ByteText to) {
    var bytes = text.getBytes(StandardCharsets.UTF_8);
    var length = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    to.append(length.putInt(bytes.length).array()).append(bytes);
  }

  @Override
  public void part(ByteText frames, Part part, Usage usage) {
    throw noStream();
  }

  @Override
  public void end(ByteText frames, @Nullable Usage usage) {
    throw noStream();
  }

  @Override
  public void failure(ByteText frames, ApiError error) {
    throw noStream();
  }

  private static IllegalStateException noStream() {
    return new IllegalStateException("this route has no streams");
  }

  @Override
  public LogprobsText logprobs(LogprobsText.Tokens tokens, int alternatives, int textOffset) {
    throw new IllegalStateException("there is no tensor for log probabilities");
  }
}
