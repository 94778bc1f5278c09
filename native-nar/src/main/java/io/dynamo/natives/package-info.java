/**
 * The Java side of the JNI library: {@link io.dynamo.natives.NativeTransfer} has its functions,
 * {@link io.dynamo.natives.NativeLibrary} loads it and reports missing parts, {@link
 * io.dynamo.natives.HangUps} detects clients that hang up. Uses the JDK alone, starts no thread and
 * keeps nothing outside its class loader, so that an application can be restarted any number of
 * times.
 */
@NullMarked
package io.dynamo.natives;

import org.jspecify.annotations.NullMarked;
