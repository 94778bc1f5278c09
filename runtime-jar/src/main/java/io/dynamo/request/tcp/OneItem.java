package io.dynamo.request.tcp;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.pipeline.CallHomeClient;
import io.dynamo.request.EndpointHandler;
import io.dynamo.request.RequestContext;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.request.ControlMessage;
import java.nio.ByteBuffer;
import java.util.concurrent.Flow;
import org.jspecify.annotations.Nullable;

/** A request that arrived whole, in one frame. */
final class OneItem<Q, R> implements Serving<R> {
  private final EndpointHandler<Q, R> handler;
  private final MessageCodec<Q, R> codec;
  private final ControlMessage control;
  private byte @Nullable [] body; // until the handler has it
  private EndpointMeters.Failure step = EndpointMeters.Failure.INVALID_MESSAGE; // as the body

  OneItem(
      EndpointHandler<Q, R> handler,
      MessageCodec<Q, R> codec,
      ControlMessage control,
      byte[] body) {
    this.handler = handler;
    this.codec = codec;
    this.control = control;
    this.body = body;
  }

  @Override
  public void open(CallHomeClient callHome, ServedRequest<?, R> request, Runnable ready) {
    ready.run();
  }

  @Override
  public Flow.Publisher<R> begin(RequestContext context) {
    var bytes = body;
    body = null;
    if (bytes == null || !control.requestType().equals(ControlMessage.SINGLE_IN)) {
      throw new InvalidRequestException(
          "request type " + control.requestType() + " is not served here");
    }
    step = EndpointMeters.Failure.DESERIALIZATION;
    var request = codec.decodeRequest(ByteBuffer.wrap(bytes), control.format());
    step = EndpointMeters.Failure.GENERATE;
    return handler.handle(request, context);
  }

  @Override
  public EndpointMeters.Failure step() {
    return step;
  }

  @Override
  public void end() {}
}
