package io.dynamo.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.UTF8StreamJsonParser;
import com.fasterxml.jackson.core.sym.ByteQuadsCanonicalizer;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;

/**
 * The one JSON factory of the request plane. Its buffers are pooled here and not by thread, because
 * a request's new virtual thread would find none.
 *
 * <p>Field names are not shared between messages. Clients choose some of them (in schemas and
 * metadata), and a table of names that outlives its message can be filled with names of one hash
 * until it refuses more, no matter whose message is read then. Without such a table Jackson reads
 * characters instead of bytes and knows no byte offsets, which the codecs need; so each parser has
 * its own table.
 */
final class MessageJson {
  private static final int POOLED_BUFFERS = 64;

  static final JsonFactory FACTORY = new OwnNamesFactory();

  private MessageJson() {}

  /** Creates parsers of UTF-8 bytes that know no names but those of their own message. */
  private static final class OwnNamesFactory extends JsonFactory {
    private static final long serialVersionUID = 1L;

    OwnNamesFactory() {
      super(settings());
    }

    private static JsonFactoryBuilder settings() {
      var settings = new JsonFactoryBuilder();
      settings.recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS));
      settings.disable(JsonFactory.Feature.INTERN_FIELD_NAMES); // clients choose some
      return settings;
    }

    @Override
    protected JsonParser _createParser(byte[] data, int offset, int length, IOContext context) {
      return new UTF8StreamJsonParser(
          context,
          _parserFeatures,
          null,
          _objectCodec,
          ByteQuadsCanonicalizer.createRoot().makeChild(_factoryFeatures),
          data,
          offset,
          offset + length,
          0,
          false);
    }
  }
}
