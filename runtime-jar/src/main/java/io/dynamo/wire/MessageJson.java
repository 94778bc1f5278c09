package io.dynamo.wire;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.io.ContentReference;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.UTF8StreamJsonParser;
import com.fasterxml.jackson.core.sym.ByteQuadsCanonicalizer;
import com.fasterxml.jackson.core.util.JsonRecyclerPools;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;

/**
 * The one JSON factory of the request plane. Its buffers are pooled here and not by thread, because
 * a request's new virtual thread would find none.
 *
 * <p>Parsers share a table of the field names that the planes' formats have, and no others. Clients
 * choose some names (in schemas and metadata), and a table that outlives its message can be filled
 * with names of one hash until it refuses more, no matter whose message is read then. A message
 * with a name outside the formats is read with a copy of the table, which ends with the message.
 */
final class MessageJson {
  private static final int POOLED_BUFFERS = 64;
  private static final MessageFactory MESSAGES = new MessageFactory();

  static final JsonFactory FACTORY = MESSAGES;

  private MessageJson() {}

  /** Adds field names of a format to the table of parsers that are created from now on. */
  static void addNames(Iterable<String> names) {
    MESSAGES.addNames(names);
  }

  /** Returns the number of names in the table. */
  static int names() {
    return MESSAGES.names();
  }

  /** Creates parsers of UTF-8 bytes that leave the factory's table of names as it is. */
  private static final class MessageFactory extends JsonFactory {
    private static final long serialVersionUID = 1L;

    private final transient Set<String> added = new HashSet<>();

    MessageFactory() {
      super(settings());
    }

    private static JsonFactoryBuilder settings() {
      var settings = new JsonFactoryBuilder();
      settings.recyclerPool(JsonRecyclerPools.newBoundedPool(POOLED_BUFFERS));
      settings.disable(JsonFactory.Feature.INTERN_FIELD_NAMES); // clients choose some
      return settings;
    }

    synchronized void addNames(Iterable<String> names) {
      var fields = new StringBuilder();
      for (var name : names) {
        if (added.add(name)) {
          fields.append(fields.isEmpty() ? "\"" : ",\"").append(name).append("\":0");
        }
      }
      var object = ("{" + fields + "}").getBytes(StandardCharsets.UTF_8);
      var context = _createContext(ContentReference.unknown(), false);
      // The factory's own kind of parser: it adds the names that it met when it is closed.
      try (var parser = super._createParser(object, 0, object.length, context)) {
        while (parser.nextToken() != null) {}
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    int names() {
      return _byteSymbolCanonicalizer.size();
    }

    @Override
    protected JsonParser _createParser(byte[] data, int offset, int length, IOContext context) {
      var names = _byteSymbolCanonicalizer.makeChild(_factoryFeatures);
      return new MessageParser(context, _parserFeatures, names, data, offset, offset + length);
    }
  }

  /** Reads one message from an array. */
  private static final class MessageParser extends UTF8StreamJsonParser {
    MessageParser(
        IOContext context,
        int features,
        ByteQuadsCanonicalizer names,
        byte[] data,
        int from,
        int to) {
      super(context, features, null, null, names, data, from, to, 0, false);
    }

    /** Gives the buffers back. The inherited way would add the message's names to the table. */
    @Override
    protected void _releaseBuffers() {
      _textBuffer.releaseBuffers();
      var buffer = _nameCopyBuffer;
      if (buffer != null) {
        _nameCopyBuffer = null;
        _ioContext.releaseNameCopyBuffer(buffer);
      }
    }
  }
}
