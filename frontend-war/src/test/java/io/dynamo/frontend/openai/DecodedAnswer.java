package io.dynamo.frontend.openai;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.kserve.InferCalls;
import io.dynamo.frontend.kserve.Published;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Keeps the messages of one answer as protobuf's own text; it ends once. */
class DecodedAnswer implements InferCalls.Answer {
  private final String type;
  final List<String> messages = new ArrayList<>();
  boolean done;
  @Nullable ApiError error;
  int taken = Integer.MAX_VALUE; // messages before the client is gone

  DecodedAnswer(boolean streamed) {
    type = streamed ? "ModelStreamInferResponse" : "ModelInferResponse";
  }

  @Override
  public void message(byte[] message) {
    if (messages.size() == taken) {
      throw new UncheckedIOException(new IOException("the client is gone"));
    }
    messages.add(Published.decode(type, message));
  }

  @Override
  public void done() {
    assertThat(done || error != null).isFalse();
    done = true;
  }

  @Override
  public void failed(ApiError failure) {
    assertThat(done || error != null).isFalse();
    error = failure;
  }
}
