package io.dynamo.wire.generate;

import io.dynamo.inference.Annotation;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.GenerateRequest;
import io.dynamo.net.PayloadFormat;
import io.dynamo.wire.ItemDecoder;
import io.dynamo.wire.ItemEncoder;
import io.dynamo.wire.ItemForm;
import io.dynamo.wire.MessageCodec;
import io.dynamo.wire.MsgpackDecoder;
import io.dynamo.wire.MsgpackEncoder;
import io.dynamo.wire.WireReader;
import io.dynamo.wire.WireWriter;
import java.nio.ByteBuffer;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Encodes and decodes generations in Dynamo's form: {@code PreprocessedRequest} out, {@code
 * LLMEngineOutput} back, field for field in the order of 1.6.1. Stateless.
 */
public final class GenerateCodec implements MessageCodec<GenerateRequest, EngineOutput> {
  /** Events with which Dynamo's own processes exchange figures. */
  private static final Set<String> INTERNAL_EVENTS = Set.of("llm_metrics", "payload_usage");

  @Override
  public ItemForm itemForm() {
    return ItemForm.ANNOTATED;
  }

  @Override
  public byte[] encodeRequest(GenerateRequest request, PayloadFormat format) {
    return WireWriter.write(request, format, GenerateRequestShape::write);
  }

  @Override
  public GenerateRequest decodeRequest(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("request", body, format, GenerateRequestShape::read);
  }

  @Override
  public byte[] encodeItem(EngineOutput item, PayloadFormat format) {
    return WireWriter.write(item, format, EngineOutputShape::write);
  }

  @Override
  public EngineOutput decodeItem(ByteBuffer body, PayloadFormat format) {
    return WireReader.read("item", body, format, EngineOutputShape::read);
  }

  @Override
  public @Nullable EngineOutput annotation(Annotation annotation) {
    return INTERNAL_EVENTS.contains(annotation.event()) ? null : EngineOutput.annotated(annotation);
  }

  @Override
  public ItemEncoder<EngineOutput> encoder(PayloadFormat format) {
    return switch (format) {
      case JSON -> MessageCodec.super.encoder(format);
      case MSGPACK -> new MsgpackEncoder<>(EngineOutputShape::write);
    };
  }

  @Override
  public ItemDecoder<EngineOutput> decoder(PayloadFormat format) {
    return switch (format) {
      case JSON -> MessageCodec.super.decoder(format);
      case MSGPACK -> new MsgpackDecoder<>(EngineOutputShape::read);
    };
  }
}
