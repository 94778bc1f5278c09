package io.dynamo.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.ObjectCodec;
import com.fasterxml.jackson.core.io.ContentReference;
import com.fasterxml.jackson.core.io.IOContext;
import com.fasterxml.jackson.core.json.UTF8StreamJsonParser;
import com.fasterxml.jackson.core.sym.ByteQuadsCanonicalizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Creates parsers of UTF-8 bytes that share a table of the field names known beforehand, and no
 * others. Senders choose some names (in schemas and metadata), and a table that outlives its
 * message can be filled with names of one hash until it refuses more, no matter whose message is
 * read then. A message with an unknown name is read with a copy of the table, which ends with the
 * message. Safe for concurrent use.
 */
public final class KnownNamesFactory extends JsonFactory {
  private static final long serialVersionUID = 1L;

  private final transient Set<String> added = new HashSet<>(); // guarded by this

  public KnownNamesFactory(JsonFactoryBuilder settings) {
    super(settings.disable(JsonFactory.Feature.INTERN_FIELD_NAMES)); // senders choose some
  }

  /**
   * Adds field names to the table of parsers that are created from now on. For names of formats,
   * never for names that senders choose.
   */
  public synchronized void addNames(Iterable<String> names) {
    var fields = new StringBuilder();
    for (var name : names) {
      if (added.add(name)) {
        fields.append(fields.isEmpty() ? "\"" : ",\"").append(name).append("\":0");
      }
    }
    var object = ("{" + fields + "}").getBytes(StandardCharsets.UTF_8);
    var context = _createContext(ContentReference.unknown(), false);
    // Jackson's own kind of parser: it adds the names that it met when it is closed.
    try (var parser = super._createParser(object, 0, object.length, context)) {
      while (parser.nextToken() != null) {}
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the number of names in the table. */
  public int names() {
    return _byteSymbolCanonicalizer.size();
  }

  @Override
  protected JsonParser _createParser(byte[] data, int offset, int length, IOContext context) {
    var names = _byteSymbolCanonicalizer.makeChild(_factoryFeatures);
    return new BytesParser(
        context, _parserFeatures, _objectCodec, names, data, offset, offset + length);
  }

  /** Reads one message from an array. */
  private static final class BytesParser extends UTF8StreamJsonParser {
    BytesParser(
        IOContext context,
        int features,
        @Nullable ObjectCodec codec,
        ByteQuadsCanonicalizer names,
        byte[] data,
        int from,
        int to) {
      super(context, features, null, codec, names, data, from, to, 0, false);
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
