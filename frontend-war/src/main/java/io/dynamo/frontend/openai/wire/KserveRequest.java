package io.dynamo.frontend.openai.wire;

import java.util.Set;

/**
 * A checked request in KServe's form for a text to be continued.
 *
 * @param prompt the text
 * @param id the client's; empty for none
 * @param outputs the tensors that the answer has
 * @param binary those of them whose contents are sent as bytes behind the JSON
 * @param raw whether the contents of the request came as bytes
 * @param marksEnd whether a stream ends with a message of its own, without tensors
 */
public record KserveRequest(
    GenerationFields fields,
    String prompt,
    String id,
    Set<String> outputs,
    Set<String> binary,
    boolean raw,
    boolean marksEnd) {
  public KserveRequest {
    outputs = Set.copyOf(outputs);
    binary = Set.copyOf(binary);
  }

  /** A copy with other fields. */
  public KserveRequest with(GenerationFields other) {
    return new KserveRequest(other, prompt, id, outputs, binary, raw, marksEnd);
  }
}
