package io.dynamo.token;

import com.dynatrace.hash4j.hashing.Hasher64;
import com.dynatrace.hash4j.hashing.Hashing;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;

/** Hashes media with XXH3-64 and seed 0, as Dynamo does. Stateless. */
public final class MediaHasher {
  private static final Hasher64 XXH3 = Hashing.xxh3_64(0);

  private static final int PIECE = 8 << 10;

  private MediaHasher() {}

  /** Returns the hash of media known by their address alone: that of the whole URL. */
  public static long ofUrl(String url) {
    var stream = XXH3.hashStream();
    var encoder = StandardCharsets.UTF_8.newEncoder().onMalformedInput(CodingErrorAction.REPLACE);
    var characters = CharBuffer.wrap(url);
    var piece = ByteBuffer.allocate(PIECE); // a data URL may have many megabytes
    while (encoder.encode(characters, piece, true).isOverflow()) {
      stream.putBytes(piece.array(), 0, piece.position());
      piece.clear();
    }
    return stream.putBytes(piece.array(), 0, piece.position()).getAsLong();
  }

  /** Returns the hash of media by their bytes as stored, before they are decoded. */
  public static long of(byte[] content) {
    return XXH3.hashBytesToLong(content);
  }
}
