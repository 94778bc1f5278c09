package io.dynamo.wire;

/**
 * The first bytes of MessagePack values, as {@code 0} to {@code 0xff}, each with the width in bits
 * of the data that follows it.
 *
 * @see <a href="https://github.com/msgpack/msgpack/blob/master/spec.md">the specification</a>
 */
final class MsgpackType {
  static final int FIXED_MAP = 0x80;
  static final int FIXED_ARRAY = 0x90;
  static final int FIXED_STRING = 0xa0;
  static final int NIL = 0xc0;
  static final int FALSE = 0xc2;
  static final int TRUE = 0xc3;
  static final int BINARY_8 = 0xc4;
  static final int BINARY_16 = 0xc5;
  static final int BINARY_32 = 0xc6;
  static final int EXTENSION_8 = 0xc7;
  static final int EXTENSION_16 = 0xc8;
  static final int EXTENSION_32 = 0xc9;
  static final int FLOAT_32 = 0xca;
  static final int FLOAT_64 = 0xcb;
  static final int UNSIGNED_8 = 0xcc;
  static final int UNSIGNED_16 = 0xcd;
  static final int UNSIGNED_32 = 0xce;
  static final int UNSIGNED_64 = 0xcf;
  static final int SIGNED_8 = 0xd0;
  static final int SIGNED_16 = 0xd1;
  static final int SIGNED_32 = 0xd2;
  static final int SIGNED_64 = 0xd3;
  static final int FIXED_EXTENSION_1 = 0xd4;
  static final int FIXED_EXTENSION_2 = 0xd5;
  static final int FIXED_EXTENSION_4 = 0xd6;
  static final int FIXED_EXTENSION_8 = 0xd7;
  static final int FIXED_EXTENSION_16 = 0xd8;
  static final int STRING_8 = 0xd9;
  static final int STRING_16 = 0xda;
  static final int STRING_32 = 0xdb;
  static final int ARRAY_16 = 0xdc;
  static final int ARRAY_32 = 0xdd;
  static final int MAP_16 = 0xde;
  static final int MAP_32 = 0xdf;

  private MsgpackType() {}

  static boolean isMap(int type) {
    return (type & 0xf0) == FIXED_MAP || type == MAP_16 || type == MAP_32;
  }

  static boolean isArray(int type) {
    return (type & 0xf0) == FIXED_ARRAY || type == ARRAY_16 || type == ARRAY_32;
  }

  static boolean isString(int type) {
    return (type & 0xe0) == FIXED_STRING || (type >= STRING_8 && type <= STRING_32);
  }

  static boolean isBinary(int type) {
    return type >= BINARY_8 && type <= BINARY_32;
  }

  static boolean isFixedInteger(int type) {
    return type < 0x80 || type >= 0xe0;
  }
}
