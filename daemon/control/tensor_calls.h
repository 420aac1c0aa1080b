// The calls of control.proto that fill the store of weights.
//
// Threads: any. Their errors are what the coordinator is told.
#pragma once

#include <grpcpp/grpcpp.h>

#include "core/base/error.h"
#include "daemon/stage/tensor_store.h"
#include "proto/control.grpc.pb.h"

namespace pareto::daemon {

/// Answers MissingTensors: those of the digests asked for that the store lacks. The request is read
/// as it was sent, because it would take twenty times its size once it is parsed. Fails: kExhausted
/// (too many digests), kInvalidArgument, kCorrupt.
Expected<> list_missing_tensors(TensorStore& store, const grpc::ByteBuffer& request,
                                grpc::ByteBuffer& reply);

/// Answers PutTensors: stores tensors, each in chunks that follow one another. `reply` counts what
/// was stored, also if a later one fails. Fails: kInvalidArgument (chunks that are no tensor), and
/// as TensorStore::begin and TensorUpload do.
Expected<> store_tensors(TensorStore& store, grpc::ServerReader<control::v1::TensorChunk>& reader,
                         control::v1::PutTensorsReply& reply);

}  // namespace pareto::daemon
