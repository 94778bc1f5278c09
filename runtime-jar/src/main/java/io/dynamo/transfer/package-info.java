/**
 * Host memory for KV blocks, copied in batches and checksummed: start at {@link
 * io.dynamo.transfer.HostMemory}. Copies in the background: {@link
 * io.dynamo.transfer.TransferClient}. Bytes to other processes: {@link
 * io.dynamo.transfer.RegionExchange}.
 */
@NullMarked
package io.dynamo.transfer;

import org.jspecify.annotations.NullMarked;
