package io.dynamo.wire.generate;

import io.dynamo.inference.tensor.Tensor;
import io.dynamo.inference.tensor.TensorRequest;
import io.dynamo.inference.tensor.TensorResponse;
import io.dynamo.inference.tensor.WantedOutput;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.Keys;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Encodes and decodes requests for tensors and their answers in Dynamo's form. Stateless. */
public final class TensorCodec implements MessageCodec<TensorRequest, TensorResponse> {
  /** The positions of the names in {@link #KEYS}, of requests and answers. */
  private static final class Field {
    static final int ID = 0;
    static final int MODEL = 1;
    static final int TENSORS = 2;
    static final int OUTPUTS = 3;
    static final int PARAMETERS = 4;
    static final Keys KEYS =
        new Keys(
            Keys.entry(ID, "id"),
            Keys.entry(MODEL, "model"),
            Keys.entry(TENSORS, "tensors"),
            Keys.entry(OUTPUTS, "outputs"),
            Keys.entry(PARAMETERS, "parameters"));
  }

  /** The positions of the names in {@link #KEYS}, of an output that is asked for. */
  private static final class OutputField {
    static final int NAME = 0;
    static final int PARAMETERS = 1;
    static final Keys KEYS =
        new Keys(Keys.entry(NAME, "name"), Keys.entry(PARAMETERS, "parameters"));
  }

  private static final int ALWAYS = 3; // fields of every request and answer

  @Override
  public ItemForm itemForm() {
    return ItemForm.ANNOTATED;
  }

  @Override
  public byte[] encodeRequest(TensorRequest request, PayloadFormat format) {
    return WireWriter.write(
        request,
        format,
        (out, it) -> write(out, it.id(), it.model(), it.tensors(), it.outputs(), it.parameters()));
  }

  @Override
  public byte[] encodeItem(TensorResponse item, PayloadFormat format) {
    return WireWriter.write(
        item,
        format,
        (out, it) -> write(out, it.id(), it.model(), it.tensors(), List.of(), it.parameters()));
  }

  private static void write(
      WireWriter out,
      @Nullable String id,
      String model,
      List<Tensor> tensors,
      List<WantedOutput> outputs,
      Map<String, Object> parameters)
      throws IOException {
    out.beginMap(ALWAYS + (outputs.isEmpty() ? 0 : 1) + (parameters.isEmpty() ? 0 : 1));
    out.stringOrNil("id", id);
    out.key("model");
    out.string(model);
    out.key("tensors");
    out.beginArray(tensors.size());
    for (var tensor : tensors) {
      TensorShape.write(out, tensor);
    }
    out.endArray();
    if (!outputs.isEmpty()) {
      out.key("outputs");
      out.beginArray(outputs.size());
      for (var output : outputs) {
        out.beginMap(output.parameters().isEmpty() ? 1 : 2);
        out.key("name");
        out.string(output.name());
        TensorParameters.write(out, output.parameters());
        out.endMap();
      }
      out.endArray();
    }
    TensorParameters.write(out, parameters);
    out.endMap();
  }

  @Override
  public TensorRequest decodeRequest(ByteBuffer body, PayloadFormat format) {
    var read = read("request", body, format);
    return new TensorRequest(read.id, read.model, read.tensors, read.outputs, read.parameters);
  }

  @Override
  public TensorResponse decodeItem(ByteBuffer body, PayloadFormat format) {
    var read = read("item", body, format);
    return new TensorResponse(read.id, read.model, read.tensors, read.parameters);
  }

  private record Fields(
      @Nullable String id,
      String model,
      List<Tensor> tensors,
      List<WantedOutput> outputs,
      Map<String, Object> parameters) {}

  private static Fields read(String what, ByteBuffer body, PayloadFormat format) {
    return WireReader.read(what, body, format, in -> fields(in, body, format));
  }

  private static Fields fields(WireReader in, ByteBuffer body, PayloadFormat format)
      throws IOException {
    String id = null;
    var model = "";
    List<Tensor> tensors = null;
    List<WantedOutput> outputs = List.of();
    Map<String, Object> parameters = Map.of();
    in.beginMap();
    for (int key = in.nextKey(Field.KEYS); key != Keys.END; key = in.nextKey(Field.KEYS)) {
      if (key == Keys.UNKNOWN) {
        in.skip();
      } else if (!in.isNil()) {
        switch (key) {
          case Field.ID -> id = in.string();
          case Field.MODEL -> model = in.string();
          case Field.TENSORS -> tensors = tensors(in, body, format);
          case Field.OUTPUTS -> outputs = outputs(in);
          case Field.PARAMETERS -> parameters = TensorParameters.read(in);
          default -> in.skip();
        }
      }
    }
    if (tensors == null) {
      throw new IOException("tensors is missing");
    }
    return new Fields(id, model, tensors, outputs, parameters);
  }

  private static List<Tensor> tensors(WireReader in, ByteBuffer body, PayloadFormat format)
      throws IOException {
    var tensors = new ArrayList<Tensor>();
    in.beginArray();
    while (in.nextElement()) {
      if (tensors.size() == TensorShape.MAX_TENSORS) {
        throw new IOException("there are more than " + TensorShape.MAX_TENSORS + " tensors");
      }
      tensors.add(TensorShape.read(in, body, format));
    }
    return tensors;
  }

  private static List<WantedOutput> outputs(WireReader in) throws IOException {
    var outputs = new ArrayList<WantedOutput>();
    in.beginArray();
    while (in.nextElement()) {
      if (outputs.size() == TensorShape.MAX_TENSORS) {
        throw new IOException("there are more than " + TensorShape.MAX_TENSORS + " outputs");
      }
      var name = "";
      Map<String, Object> parameters = Map.of();
      in.beginMap();
      for (int key = in.nextKey(OutputField.KEYS);
          key != Keys.END;
          key = in.nextKey(OutputField.KEYS)) {
        switch (key) {
          case OutputField.NAME -> name = in.string();
          case OutputField.PARAMETERS -> parameters = TensorParameters.read(in);
          default -> in.skip();
        }
      }
      outputs.add(new WantedOutput(name, parameters));
    }
    return outputs;
  }
}
