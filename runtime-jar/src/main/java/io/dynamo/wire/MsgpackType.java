package io.dynamo.wire;

/** What the first byte of a value says of it, as {@code 0} to {@code 0xff}. */
final class MsgpackType {
  private MsgpackType() {}

  static boolean isMap(int type) {
    return (type & 0xf0) == 0x80 || type == 0xde || type == 0xdf;
  }

  static boolean isArray(int type) {
    return (type & 0xf0) == 0x90 || type == 0xdc || type == 0xdd;
  }

  static boolean isString(int type) {
    return (type & 0xe0) == 0xa0 || (type >= 0xd9 && type <= 0xdb);
  }

  static boolean isBinary(int type) {
    return type >= 0xc4 && type <= 0xc6;
  }

  static boolean isFixedInteger(int type) {
    return type < 0x80 || type >= 0xe0;
  }
}
