package io.dynamo.inference.tensor;

import org.jspecify.annotations.Nullable;

/** The data types of tensors. */
public enum TensorType {
  BOOL("Bool", 1, 1),
  UINT8("Uint8", 2, 1),
  UINT16("Uint16", 3, 2),
  UINT32("Uint32", 4, 4),
  UINT64("Uint64", 5, 8),
  INT8("Int8", 6, 1),
  INT16("Int16", 7, 2),
  INT32("Int32", 8, 4),
  INT64("Int64", 9, 8),
  FP16("Float16", 10, 2),
  FP32("Float32", 11, 4),
  FP64("Float64", 12, 8),
  BYTES("Bytes", 13, 0),
  BF16("BFloat16", 14, 2);

  private final String workerName;
  private final int configNumber;
  private final int elementBytes;

  TensorType(String workerName, int configNumber, int elementBytes) {
    this.workerName = workerName;
    this.configNumber = configNumber;
    this.elementBytes = elementBytes;
  }

  /** Returns the type of that name in the protocol, {@code INT32} for example; null for none. */
  public static @Nullable TensorType named(String name) {
    for (var type : values()) {
      if (type.name().equals(name)) {
        return type;
      }
    }
    return null;
  }

  /** Returns the type that Dynamo's workers call {@code name}; null for none. */
  public static @Nullable TensorType ofWorker(String name) {
    for (var type : values()) {
      if (type.workerName.equals(name)) {
        return type;
      }
    }
    return null;
  }

  /** Returns the type with that number in model configurations; null for none. */
  public static @Nullable TensorType ofConfig(int number) {
    for (var type : values()) {
      if (type.configNumber == number) {
        return type;
      }
    }
    return null;
  }

  /** The name that Dynamo's workers and cards have for the type. */
  public String workerName() {
    return workerName;
  }

  /** The number of the type in model configurations. */
  public int configNumber() {
    return configNumber;
  }

  /** The bytes of one element; 0 for {@link #BYTES}, whose elements have lengths of their own. */
  public int elementBytes() {
    return elementBytes;
  }

  /**
   * Whether a whole number is a value of this type. False for types whose values are no {@code
   * long}s.
   */
  public boolean holds(long value) {
    return switch (this) {
      case INT8 -> value == (byte) value;
      case INT16 -> value == (short) value;
      case INT32 -> value == (int) value;
      case INT64 -> true;
      case UINT8 -> value >= 0 && value <= 0xFF;
      case UINT16 -> value >= 0 && value <= 0xFFFF;
      case UINT32 -> value >= 0 && value <= 0xFFFF_FFFFL;
      case BOOL, UINT64, FP16, FP32, FP64, BYTES, BF16 -> false;
    };
  }
}
