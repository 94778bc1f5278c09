package io.dynamo.frontend.openai.wire;

import java.io.InputStream;

/** A body that arrives byte by byte and never ends. */
public final class Trickle extends InputStream {
  @Override
  public int read() {
    return ' ';
  }

  @Override
  public int read(byte[] into, int from, int length) {
    into[from] = ' ';
    return 1;
  }
}
