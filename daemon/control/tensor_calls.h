// The calls of control.proto that fill the store of weights.
//
// Threads: any. Their errors are what the coordinator is told.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>

#include "core/base/error.h"
#include "daemon/stage/tensor_store.h"
#include "proto/control.grpc.pb.h"

namespace pareto::daemon {

/// Answers MissingTensors: those of the digests asked for that the store lacks. The request is read
/// as it was sent, because it would take twenty times its size once it is parsed. Fails: kExhausted
/// (too many digests), kInvalidArgument, kCorrupt.
Expected<> list_missing_tensors(TensorStore& store, const grpc::ByteBuffer& request,
                                grpc::ByteBuffer& reply);

/// Answers PutTensors: stores tensors, each in chunks that follow one another. `admitted` says
/// before each whether its caller may still store one. `reply` counts what was stored, also if a
/// later one fails. Fails: kInvalidArgument (chunks that are no tensor), and as `admitted`,
/// TensorStore::begin and TensorUpload do.
Expected<> store_tensors(TensorStore& store, const std::function<Expected<>()>& admitted,
                         grpc::ServerReader<control::v1::TensorChunk>& reader,
                         control::v1::PutTensorsReply& reply);

}  // namespace pareto::daemon
