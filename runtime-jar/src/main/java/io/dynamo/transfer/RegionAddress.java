package io.dynamo.transfer;

import io.dynamo.json.JsonObject;
import io.dynamo.transfer.TransferFailedException.Reason;
import java.util.Base64;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where another process may write into a region, or read it, until its lease ends. Whoever has it
 * can do that: it travels on authenticated channels only, and is never logged.
 *
 * @param host IP literal of the listener
 * @param lease names the region there
 * @param secret proves to either side that the other was given this address
 * @param byteSize size of the region
 * @param permission the use that the lease is for
 * @param sharing where processes of the same host get the region's memory itself; null when it is
 *     not to be had
 * @param ucx how the region is reached by UCX; null when it is not
 */
public record RegionAddress(
    String host,
    int port,
    long lease,
    byte[] secret,
    long byteSize,
    Permission permission,
    @Nullable MemorySharing sharing,
    @Nullable UcxOffer ucx) {
  /** The uses of a lent region. */
  public enum Permission {
    /** Writes, and nothing is read. */
    WRITE,
    /** Reads, and nothing is written. */
    READ;

    private static final String READ_WORD = "read"; // addresses without a word are for writing

    private static Permission of(@Nullable String word) {
      if (word != null && !word.equals(READ_WORD)) {
        throw new IllegalArgumentException("permission " + word + " is not known");
      }
      return word == null ? WRITE : READ;
    }
  }

  /**
   * A process that passes memory on to others of its host.
   *
   * @param boot the running kernel
   * @param name its socket there
   */
  public record MemorySharing(String boot, String name) {}

  /**
   * The way to a region by UCX.
   *
   * @param bytes of the native library
   * @param seal shows that they were made by who knows the secret
   */
  public record UcxOffer(byte[] bytes, byte[] seal) {}

  /** The length of every secret. */
  public static final int SECRET_BYTES = 32;

  public RegionAddress {
    if (secret.length != SECRET_BYTES) {
      throw new IllegalArgumentException(
          "a secret of %d bytes is not one of %d".formatted(secret.length, SECRET_BYTES));
    }
    if (port < 1 || port > 65535) {
      throw new IllegalArgumentException("port " + port + " is not from 1 to 65535");
    }
    if (byteSize < 1) {
      throw new IllegalArgumentException("a region of " + byteSize + " bytes");
    }
  }

  /** An address that is reached by network only. */
  public RegionAddress(
      String host, int port, long lease, byte[] secret, long byteSize, Permission permission) {
    this(host, port, lease, secret, byteSize, permission, null, null);
  }

  /** An address to write to, by network only. */
  public RegionAddress(String host, int port, long lease, byte[] secret, long byteSize) {
    this(host, port, lease, secret, byteSize, Permission.WRITE);
  }

  /** The end of a transfer that the lease does not permit. */
  public TransferFailedException denied() {
    return new TransferFailedException(
        Reason.DENIED,
        switch (permission) {
          case WRITE -> "the %s is lent for writing, and cannot be read".formatted(this);
          case READ -> "the %s is lent for reading, and cannot be written".formatted(this);
        },
        null);
  }

  /** Says in a message what a transfer of so many bytes does. */
  public String transferOf(long bytes) {
    return switch (permission) {
      case WRITE -> "writing %d bytes to the %s".formatted(bytes, this);
      case READ -> "reading %d bytes from the %s".formatted(bytes, this);
    };
  }

  /** Returns this address with a way for processes of the same host. */
  public RegionAddress sharedBy(MemorySharing process) {
    return new RegionAddress(host, port, lease, secret, byteSize, permission, process, ucx);
  }

  /** Returns this address with a way by UCX. */
  public RegionAddress reachedBy(UcxOffer offer) {
    return new RegionAddress(host, port, lease, secret, byteSize, permission, sharing, offer);
  }

  /** Returns the address as members of a message. */
  public Map<String, @Nullable Object> toMembers() {
    var members =
        JsonObject.ordered(
            "host", host,
            "port", port,
            "lease", lease,
            "secret", Base64.getEncoder().encodeToString(secret),
            "byte_size", byteSize);
    if (permission == Permission.READ) {
      members.put("permission", Permission.READ_WORD);
    }
    if (sharing != null) {
      members.put("shm", JsonObject.ordered("boot", sharing.boot, "name", sharing.name));
    }
    if (ucx != null) {
      var base64 = Base64.getEncoder();
      members.put(
          "ucx",
          JsonObject.ordered(
              "offer", base64.encodeToString(ucx.bytes),
              "seal", base64.encodeToString(ucx.seal)));
    }
    return members;
  }

  /**
   * Reads an address from a message.
   *
   * @throws IllegalArgumentException naming the member that is missing or wrong
   */
  public static RegionAddress of(JsonObject message) {
    var shared = message.optionalObject("shm");
    var ucx = message.optionalObject("ucx");
    var base64 = Base64.getDecoder();
    return new RegionAddress(
        message.text("host"),
        message.count("port"),
        message.unsigned("lease"),
        base64.decode(message.text("secret")),
        message.unsigned("byte_size"),
        Permission.of(message.optionalText("permission")),
        shared == null ? null : new MemorySharing(shared.text("boot"), shared.text("name")),
        ucx == null
            ? null
            : new UcxOffer(base64.decode(ucx.text("offer")), base64.decode(ucx.text("seal"))));
  }

  /** Without the secret. */
  @Override
  public String toString() {
    return "region of %d bytes at %s:%d".formatted(byteSize, host, port);
  }
}
