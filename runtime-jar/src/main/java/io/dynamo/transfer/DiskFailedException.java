package io.dynamo.transfer;

import io.dynamo.error.ErrorCode;
import io.dynamo.error.Failed;

/** A disk, or its file system, refused scratch space or a transfer. */
public final class DiskFailedException extends Failed {
  /** The kinds of failure that an operator acts on in different ways. */
  public enum Problem {
    /** No blocks are free, or the user's quota is used up. */
    FULL(ErrorCode.RESOURCE_EXHAUSTED, "the disk is full or a quota used up; free space"),
    /** The file system takes no writes. */
    READ_ONLY(ErrorCode.UNAVAILABLE, "its file system is read-only; mount it writable"),
    /** This process may not write there. */
    DENIED(ErrorCode.UNAVAILABLE, "this process may not write there; check owner and mode"),
    /** There is no such folder. */
    ABSENT(ErrorCode.UNAVAILABLE, "there is no such folder; create it or name another one"),
    /** This process has no descriptors left. */
    NO_DESCRIPTORS(ErrorCode.RESOURCE_EXHAUSTED, "no descriptors are left; raise ulimit -n"),
    /** The device failed, or is gone. */
    DEVICE(ErrorCode.UNAVAILABLE, "the device failed; see the kernel's log"),
    /** The file is shorter than its space. */
    CUT_OFF(ErrorCode.UNAVAILABLE, "its file ended early: something has cut it off"),
    /** Anything else. */
    OTHER(ErrorCode.UNKNOWN, "see the kernel's log");

    private final ErrorCode code;
    private final String remedy;

    Problem(ErrorCode code, String remedy) {
      this.code = code;
      this.remedy = remedy;
    }

    /** Returns the kind of an errno of Linux; 0 stands for a file that ended early. */
    public static Problem of(int errno) {
      return switch (errno) {
        case 0 -> CUT_OFF;
        case 27, 28, 122 -> FULL; // EFBIG, ENOSPC, EDQUOT
        case 30 -> READ_ONLY; // EROFS
        case 1, 13 -> DENIED; // EPERM, EACCES
        case 2, 20, 40 -> ABSENT; // ENOENT, ENOTDIR, ELOOP
        case 23, 24 -> NO_DESCRIPTORS; // ENFILE, EMFILE
        case 5, 6, 19, 121, 123 -> DEVICE; // EIO, ENXIO, ENODEV, EREMOTEIO, ENOMEDIUM
        default -> OTHER;
      };
    }
  }

  private final Problem problem;
  private final int errno;

  /**
   * @param what was to be done, and with which folder
   * @param errno of the kernel, or 0 when the file ended early
   */
  public DiskFailedException(String what, int errno) {
    this(what, errno, Problem.of(errno));
  }

  private DiskFailedException(String what, int errno, Problem problem) {
    super(
        problem.code,
        "%s: %s%s".formatted(what, problem.remedy, errno == 0 ? "" : " (errno " + errno + ")"),
        null);
    this.problem = problem;
    this.errno = errno;
  }

  public Problem problem() {
    return problem;
  }

  /** Returns the error number of the kernel; 0 when the file ended early. */
  public int errno() {
    return errno;
  }
}
