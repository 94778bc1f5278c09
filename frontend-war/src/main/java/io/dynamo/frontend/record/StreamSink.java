package io.dynamo.frontend.record;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;

/** Writes records as lines to a stream that stays open. For one thread. */
final class StreamSink implements RecordSink {
  private final OutputStream lines;

  StreamSink(OutputStream stream) {
    this.lines = new BufferedOutputStream(stream, 1 << 16);
  }

  @Override
  public void write(byte[] record) throws IOException {
    lines.write(record);
    lines.write('\n');
  }

  @Override
  public void flush() throws IOException {
    lines.flush();
  }

  @Override
  public void abandon() {}

  @Override
  public void close() throws IOException {
    lines.flush();
  }
}
