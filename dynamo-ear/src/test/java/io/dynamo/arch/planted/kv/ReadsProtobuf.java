package io.dynamo.arch.planted.kv;

import com.google.protobuf.CodedInputStream;
import java.io.IOException;

final class ReadsProtobuf {
  private ReadsProtobuf() {}

  static int tag(CodedInputStream in) throws IOException {
    return in.readTag();
  }
}
