package io.dynamo.request.codec;

import java.io.IOException;
import java.math.BigInteger;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** MessagePack, integers in the shortest form. */
final class MsgpackWriter implements WireWriter {
  /** A token item takes 136 bytes; the library's own default is 8 KiB for each packer. */
  private static final MessagePack.PackerConfig SMALL =
      new MessagePack.PackerConfig().withBufferSize(512).withBufferFlushThreshold(512);

  private final MessageBufferPacker packer = SMALL.newBufferPacker();

  @Override
  public void beginMap(int size) throws IOException {
    packer.packMapHeader(size);
  }

  @Override
  public void endMap() {}

  @Override
  public void beginArray(int size) throws IOException {
    packer.packArrayHeader(size);
  }

  @Override
  public void endArray() {}

  @Override
  public void key(String name) throws IOException {
    packer.packString(name);
  }

  @Override
  public void string(String value) throws IOException {
    packer.packString(value);
  }

  @Override
  public void integer(long value) throws IOException {
    packer.packLong(value);
  }

  @Override
  public void integer(BigInteger value) throws IOException {
    packer.packBigInteger(value);
  }

  @Override
  public void float32(float value) throws IOException {
    packer.packFloat(value);
  }

  @Override
  public void float64(double value) throws IOException {
    packer.packDouble(value);
  }

  @Override
  public void bool(boolean value) throws IOException {
    packer.packBoolean(value);
  }

  @Override
  public void binary(byte[] value) throws IOException {
    packer.packBinaryHeader(value.length);
    packer.writePayload(value);
  }

  @Override
  public void nil() throws IOException {
    packer.packNil();
  }

  @Override
  public byte[] finish() throws IOException {
    packer.flush();
    return packer.toByteArray();
  }
}
