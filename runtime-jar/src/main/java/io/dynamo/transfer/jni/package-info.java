/**
 * Host memory of the native library, and the choice between it and plain Java: start at {@link
 * io.dynamo.transfer.jni.HostMemorySelection}. The only package of this module that knows {@code
 * io.dynamo.natives}.
 */
@NullMarked
package io.dynamo.transfer.jni;

import org.jspecify.annotations.NullMarked;
