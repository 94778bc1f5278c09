package io.dynamo.frontend.kserve;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.inference.tensor.WantedOutput;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/**
 * A request for an inference as its message has it; what its tensors hold is read when it is asked
 * for.
 *
 * @param version of the model; empty for any
 * @param id the client's; empty for none
 * @param parameters booleans, longs, doubles, strings and unsigned {@link java.math.BigInteger}s
 * @param outputs the tensors that are asked for; none asks for all
 * @param raw whether the contents of tensors came as bytes, in which form those of the answer leave
 */
public record InferRequest(
    String model,
    String version,
    String id,
    Map<String, Object> parameters,
    List<InferTensor> inputs,
    List<WantedOutput> outputs,
    boolean raw) {
  /** The parameter of Triton's clients that asks for a last message without tensors. */
  public static final String MARK_END = "triton_enable_empty_final_response";

  /** The parameter by which all outputs are asked for as bytes. */
  public static final String ALL_BINARY = "binary_data_output";

  /** The parameter by which one output is asked for as bytes. */
  public static final String ONE_BINARY = "binary_data";

  private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

  public InferRequest {
    parameters = Map.copyOf(parameters);
    inputs = List.copyOf(inputs);
    outputs = List.copyOf(outputs);
  }

  /**
   * Refuses a request without a model, or for a version of one that does not exist.
   *
   * @throws ApiException with 404
   */
  public void requireModel() {
    new NamedModel(model, version).require();
  }

  static ApiException refuse(String message) {
    return new ApiException(ApiError.of(400, message));
  }

  /** A name of the client, as a message may repeat it: shortened, without control characters. */
  static String shown(String name) {
    return CONTROL.matcher(ApiError.shown(name)).replaceAll("?");
  }
}
