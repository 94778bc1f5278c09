package io.dynamo.frontend.openai.wire;

import io.dynamo.frontend.admission.JsonCost;
import io.dynamo.frontend.admission.RequestBody;
import io.dynamo.frontend.kserve.InferRequest;
import io.dynamo.frontend.kserve.InferRequestReader;
import io.dynamo.frontend.kserve.NamedModel;
import org.jspecify.annotations.Nullable;

/** The form in which requests and answers of KServe's protocol travel. Immutable. */
public sealed interface KserveForm {
  /** Refuses types of bodies that are not in the form: 415. */
  void checkContentType(@Nullable String type);

  /** Estimates the memory that {@link #read} takes. */
  JsonCost cost(RequestBody body);

  /**
   * Reads a body.
   *
   * @throws io.dynamo.frontend.ApiException with 400
   */
  InferRequest read(byte[] body);

  /** Whether a request may ask for its answer in parts. */
  boolean mayStream();

  /** Creates the writer of the answer to {@code request} by {@code model}. */
  TokenFormat answer(KserveRequest request, String model);

  /** Estimates the memory that {@link #read} takes of a request whose tensors are kept. */
  JsonCost costOfTensors(RequestBody body);

  /** Creates the writer of the tensors that answer {@code request} to {@code model}. */
  TensorFormat tensors(InferRequest request, String model);

  /**
   * Protobuf messages over gRPC.
   *
   * @param mayStream whether the call is a stream of requests and answers
   */
  record Rpc(boolean mayStream) implements KserveForm {
    @Override
    public void checkContentType(@Nullable String type) {} // gRPC has checked its own

    @Override
    public JsonCost cost(RequestBody body) {
      return JsonCost.ofBytes(body.length());
    }

    @Override
    public InferRequest read(byte[] body) {
      return InferRequestReader.read(body);
    }

    @Override
    public TokenFormat answer(KserveRequest request, String model) {
      return new KserveMessages(request, model, mayStream);
    }

    @Override
    public JsonCost costOfTensors(RequestBody body) {
      return JsonCost.ofKept(body.length());
    }

    @Override
    public TensorFormat tensors(InferRequest request, String model) {
      return new TensorMessages(request, model, mayStream);
    }
  }

  /**
   * JSON over HTTP, after which the contents of tensors may stand as bytes.
   *
   * @param model of the path, with the version
   * @param jsonBytes of the body that are JSON; null for all of them
   */
  record Rest(NamedModel model, @Nullable Integer jsonBytes) implements KserveForm {
    private static final String BINARY = "application/octet-stream";

    @Override
    public void checkContentType(@Nullable String type) {
      if (jsonBytes == null || !BINARY.equals(type)) {
        JsonBody.checkContentType(type == null ? "application/json" : type);
      }
    }

    @Override
    public JsonCost cost(RequestBody body) {
      return body.jsonCost();
    }

    @Override
    public InferRequest read(byte[] body) {
      return KserveJson.infer(model, body, jsonBytes == null ? body.length : jsonBytes);
    }

    @Override
    public boolean mayStream() {
      return false;
    }

    @Override
    public TokenFormat answer(KserveRequest request, String name) {
      return new KserveJsonAnswer(request, name);
    }

    @Override
    public JsonCost costOfTensors(RequestBody body) {
      if (jsonBytes == null) {
        return body.jsonCost();
      }
      var cost = body.jsonCost(jsonBytes);
      cost.addKept(body.length());
      return cost;
    }

    @Override
    public TensorFormat tensors(InferRequest request, String name) {
      return new TensorJson(request, name);
    }
  }

  /**
   * Triton's JSON for texts, whose fields are tensors and parameters.
   *
   * @param model of the path, with the version
   * @param mayStream whether the answer is a stream of events
   */
  record Generate(NamedModel model, boolean mayStream) implements KserveForm {
    @Override
    public void checkContentType(@Nullable String type) {
      JsonBody.checkContentType(type == null ? "application/json" : type);
    }

    @Override
    public JsonCost cost(RequestBody body) {
      return body.jsonCost();
    }

    @Override
    public InferRequest read(byte[] body) {
      return KserveJson.generate(model, body, mayStream);
    }

    @Override
    public TokenFormat answer(KserveRequest request, String name) {
      return new KserveTextAnswer(request.id(), name);
    }

    @Override
    public JsonCost costOfTensors(RequestBody body) {
      return cost(body);
    }

    @Override
    public TensorFormat tensors(InferRequest request, String name) {
      throw new IllegalStateException("these routes are for texts");
    }
  }
}
