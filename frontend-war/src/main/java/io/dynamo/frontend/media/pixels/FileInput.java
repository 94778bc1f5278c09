package io.dynamo.frontend.media.pixels;

import java.io.IOException;
import java.util.function.BooleanSupplier;
import javax.imageio.stream.ImageInputStreamImpl;

/** A file in memory that a decoder reads until it has to stop. For one thread. */
final class FileInput extends ImageInputStreamImpl {
  private static final int PIECE_BYTES = 4096; // between two looks at whether to stop

  private final byte[] file;
  private final BooleanSupplier stop;

  FileInput(byte[] file, BooleanSupplier stop) {
    this.file = file;
    this.stop = stop;
  }

  @Override
  public int read() throws IOException {
    goOn();
    return streamPos < file.length ? file[(int) streamPos++] & 0xff : -1;
  }

  @Override
  public int read(byte[] into, int from, int most) throws IOException {
    goOn();
    if (most == 0) {
      return 0;
    }
    if (streamPos >= file.length) {
      return -1;
    }
    int count = Math.min(Math.min(most, PIECE_BYTES), file.length - (int) streamPos);
    System.arraycopy(file, (int) streamPos, into, from, count);
    streamPos += count;
    return count;
  }

  @Override
  public long length() {
    return file.length;
  }

  private void goOn() throws IOException {
    bitOffset = 0;
    if (stop.getAsBoolean()) {
      throw new IOException("nobody waits for the image any more");
    }
  }
}
