#include "runtime/kernels/convolution_chain.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <list>
#include <optional>
#include <span>
#include <utility>

#include "core/base/clock.h"
#include "runtime/kernels/channel_gate.h"
#include "runtime/kernels/convolution_methods.h"
#include "runtime/kernels/kernel_time.h"
#include "runtime/kernels/layer_strips.h"
#include "runtime/kernels/onednn.h"
#include "runtime/kernels/parts.h"
#include "runtime/kernels/picture_arithmetic.h"
#include "runtime/torch/register_operator.h"

namespace pareto::runtime::kernels {
namespace {

constexpr auto kChannelsInnermost = at::MemoryFormat::ChannelsLast;

using Sizes = std::vector<std::int64_t>;

/// The part of one thread.
struct Lane {
  std::optional<LayerStrips> before;  ///< all layers; with a gate those before it
  std::optional<LayerStrips> behind;  ///< the layer after the gate
  std::vector<float> sums{};
};

/// The way of one size of input on one number of threads.
struct PreparedChain {
  Sizes input;
  bool adds = false;
  int threads = 1;
  bool by_samples = false;    ///< each thread has samples of its own, else rows of every sample
  std::vector<Lane> lanes{};  ///< empty: layers run one by one
};

/// One sample's pictures, as numbers.
struct SampleSizes {
  std::size_t input = 0;
  std::size_t middle = 0;  ///< before the gate
  std::size_t result = 0;
  std::size_t pixels = 0;  ///< pixels and channels of the middle
  std::size_t channels = 0;
};

}  // namespace

struct ConvolutionChain::Impl {
  Impl(ChainSpec s, std::optional<std::size_t> bytes) : spec(std::move(s)), strip_bytes(bytes) {
    if (!spec.gate.empty()) gate.emplace(spec.gate.at(0), spec.gate.at(1));
  }

  at::Tensor run(at::Tensor input, at::Tensor addend) {
    const std::vector<Sizes> sizes = sizes_of(input);
    const bool fits = !sizes.empty() && (!addend.defined() || (addend.sizes() == sizes.back() &&
                                                               addend.scalar_type() == at::kFloat));
    if (!fits) return run_one_by_one(std::move(input), std::move(addend));
    PreparedChain& with = prepare(sizes, addend.defined());
    if (with.lanes.empty()) return run_one_by_one(std::move(input), std::move(addend));
    return run_strips(with, input, sizes, std::move(addend));
  }

  /// Returns the sizes of the input and of each layer's result; none for what the layers refuse, or
  /// what strips are not for.
  std::vector<Sizes> sizes_of(const at::Tensor& input) const {
    PackedConvolution& first = *spec.layers.front();
    if (input.dim() != 4 || input.scalar_type() != at::kFloat || input.numel() == 0) return {};
    if (input.size(1) != first.weight_sizes()[1] * first.spec().groups) return {};
    std::vector<Sizes> sizes{input.sizes().vec()};
    for (const auto& layer : spec.layers) sizes.push_back(layer->output_sizes(sizes.back()));
    return sizes;
  }

  PreparedChain& prepare(const std::vector<Sizes>& sizes, bool adds) {
    const int threads = kernel_threads();
    for (PreparedChain& known : prepared) {
      if (known.adds == adds && known.threads == threads && known.input == sizes[0]) return known;
    }
    if (gate) gate->prepare();
    PreparedChain fresh = fastest(sizes, adds, threads);
    for (Lane& lane : fresh.lanes) {
      for (auto* strips : {&lane.before, &lane.behind}) {
        if (*strips) (*strips)->keep_weights();
      }
    }
    if (!fresh.lanes.empty()) {
      for (const auto& layer : spec.layers) layer->weights().drop_given(/*lossless=*/true);
    }
    onednn::make_room(prepared);
    prepared.push_back(std::move(fresh));
    return prepared.back();
  }

  /// Returns the fastest way, which was found before or which a few runs show. Samples go through
  /// strips one by one, so that a batch of any size is timed by as few as keep all threads busy.
  PreparedChain fastest(const std::vector<Sizes>& sizes, bool adds, int threads) {
    if (strip_bytes) return make(sizes, adds, threads, *strip_bytes);
    std::vector<Sizes> of_few = sizes;
    for (Sizes& size : of_few) size[0] = size[0] % threads == 0 ? threads : 1;
    // More samples take layers that run one by one out of the cache.
    const double handicap = of_few[0][0] < sizes[0][0] ? 1.15 : 1;
    auto key = key_of(of_few, adds, threads);
    key.push_back(of_few[0][0] < sizes[0][0]);
    auto bytes = chain_methods().find(key);
    if (!bytes) {
      bytes = fastest_bytes(of_few, adds, threads, handicap);
      chain_methods().keep(key, *bytes);
    }
    return make(sizes, adds, threads, *bytes);
  }

  /// handicap: by how much longer layers that run one by one count.
  std::size_t fastest_bytes(const std::vector<Sizes>& sizes, bool adds, int threads,
                            double handicap) {
    // Of the cache that a core has for itself, part or most.
    constexpr std::array<std::size_t, 2> kStripBytes{256 << 10, 640 << 10};
    std::vector<std::pair<std::size_t, PreparedChain>> candidates;
    candidates.emplace_back(0, make(sizes, adds, threads, 0));
    for (const std::size_t bytes : kStripBytes) {
      PreparedChain strips = make(sizes, adds, threads, bytes);
      if (strips.lanes.empty()) continue;
      const PreparedChain& last = candidates.back().second;
      const bool same =
          !last.lanes.empty() && last.lanes[0].before->count() == strips.lanes[0].before->count();
      if (!same) candidates.emplace_back(bytes, std::move(strips));
    }
    return candidates[fastest_of(candidates, sizes, handicap)].first;
  }

  Sizes key_of(const std::vector<Sizes>& sizes, bool adds, int threads) const {
    Sizes key{adds, threads, spec.gate.empty() ? 0 : spec.gate[0]->weight_sizes()[0]};
    key.insert(key.end(), sizes[0].begin(), sizes[0].end());
    for (const auto& layer : spec.layers) {
      const ConvolutionSpec& of = layer->spec();
      const Sizes& weights = layer->weight_sizes();
      key.insert(key.end(), weights.begin(), weights.end());
      for (const Sizes* pair : {&of.stride, &of.padding, &of.dilation}) {
        key.insert(key.end(), pair->begin(), pair->end());
      }
      key.insert(key.end(), {of.groups, static_cast<std::int64_t>(of.activation.kind)});
    }
    return key;
  }

  /// Returns the number of the one with the shortest of a few runs on zeros, in turns: what else
  /// the machine does meets all of them alike.
  std::size_t fastest_of(std::vector<std::pair<std::size_t, PreparedChain>>& candidates,
                         const std::vector<Sizes>& sizes, double handicap) {
    constexpr int kRounds = 5;
    const auto options = at::TensorOptions(at::kFloat).memory_format(kChannelsInnermost);
    const at::Tensor input = at::zeros(sizes.front(), options);
    at::Tensor addend;
    if (candidates[0].second.adds) addend = at::zeros(sizes.back(), options);
    std::vector<Nanoseconds> times(candidates.size(), Nanoseconds::max());
    for (int round = 0; round < kRounds; ++round) {
      for (std::size_t c = 0; c < candidates.size(); ++c) {
        PreparedChain& candidate = candidates[c].second;
        const Nanoseconds start = kernel_time();
        if (candidate.lanes.empty()) {
          run_one_by_one(input, addend);
        } else {
          run_strips(candidate, input, sizes, addend);
        }
        times[c] = std::min(times[c], kernel_time() - start);
      }
    }
    std::vector<double> costs;
    for (const Nanoseconds time : times) costs.push_back(to_nanoseconds(time));
    costs[0] *= handicap;
    return static_cast<std::size_t>(std::min_element(costs.begin(), costs.end()) - costs.begin());
  }

  /// Returns strips of that many bytes, or no lanes: for 0 bytes, and where oneDNN cannot.
  PreparedChain make(const std::vector<Sizes>& sizes, bool adds, int threads, std::size_t bytes) {
    const std::int64_t batch = sizes[0][0];
    PreparedChain made{sizes[0], adds, threads, batch % threads == 0, {}};
    if (bytes == 0) return made;
    std::vector<StripLayer> layers;
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
      PackedConvolution& layer = *spec.layers[i];
      Sizes input = sizes[i];
      Sizes output = sizes[i + 1];
      input[0] = output[0] = 1;
      const bool last = i + 1 == spec.layers.size();
      layers.push_back({{layer.spec(), layer.weight_sizes(), input, output, adds && last, true},
                        layer.weights()});
    }
    std::vector<StripLayer> behind;
    if (gate) {
      behind.push_back(layers.back());
      layers.pop_back();
    }
    for (int thread = 0; thread < threads; ++thread) {
      const auto rows_of = [&](const std::vector<StripLayer>& of) {
        const std::int64_t height = of.back().problem.output[2];
        return made.by_samples ? Share{0, height} : share_of(height, threads, thread);
      };
      Lane lane;
      lane.before = LayerStrips::make(layers, rows_of(layers), bytes, /*scales=*/false);
      if (gate) lane.behind = LayerStrips::make(behind, rows_of(behind), bytes, /*scales=*/true);
      if (!lane.before || (gate && !lane.behind)) {
        made.lanes.clear();
        return made;
      }
      made.lanes.push_back(std::move(lane));
    }
    return made;
  }

  at::Tensor run_one_by_one(at::Tensor picture, at::Tensor addend) {
    for (std::size_t i = 0; i + 1 < spec.layers.size(); ++i) {
      picture = spec.layers[i]->run(picture, {});
    }
    if (gate) {
      gate->prepare();
      multiply(picture);
    }
    return spec.layers.back()->run(picture, std::move(addend));
  }

  /// Multiplies each channel of pictures by its factor.
  void multiply(at::Tensor& pictures) {
    pictures = pictures.contiguous(kChannelsInnermost);
    const auto channels = to_size(pictures.size(1));
    const std::int64_t pixels = pictures.size(2) * pictures.size(3);
    const int parts = pixels * pictures.size(1) < kFewNumbers ? 1 : kernel_threads();
    std::vector<std::vector<float>> sums(to_size(parts), std::vector<float>(channels));
    std::vector<float> factors(channels);
    float* sample = pictures.data_ptr<float>();
    for (std::int64_t i = 0; i < pictures.size(0); ++i, sample += to_size(pixels) * channels) {
      const auto each_part = [&](const auto& work) {
        share(parts, [&](int part) {
          const Share own = share_of(pixels, parts, part);
          work(to_size(part), sample + to_size(own.begin) * channels, to_size(own.size()));
        });
      };
      each_part([&](std::size_t part, const float* own, std::size_t count) {
        std::fill(sums[part].begin(), sums[part].end(), 0.F);
        add_pixels(own, count, channels, sums[part].data());
      });
      for (std::size_t part = 1; part < sums.size(); ++part) add(sums[part], sums[0]);
      find_factors(sums[0], to_size(pixels), factors);
      each_part([&](std::size_t, float* own, std::size_t count) {
        scale_pixels(own, count, channels, factors.data(), own);
      });
    }
  }

  static void add(const std::vector<float>& numbers, std::vector<float>& sums) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += numbers[i];
  }

  /// Turns sums over pixels into means, and those into factors.
  void find_factors(std::vector<float>& sums, std::size_t pixels, std::vector<float>& factors) {
    for (float& sum : sums) sum /= static_cast<float>(pixels);
    gate->run(sums.data(), factors.data());
  }

  at::Tensor run_strips(PreparedChain& with, const at::Tensor& given,
                        const std::vector<Sizes>& sizes, at::Tensor addend) {
    const auto numbers = [](const Sizes& of) { return to_size(of[1] * of[2] * of[3]); };
    const Sizes& before_last = sizes[sizes.size() - 2];
    const SampleSizes of{numbers(sizes.front()), numbers(before_last), numbers(sizes.back()),
                         to_size(before_last[2] * before_last[3]), to_size(before_last[1])};
    const bool in_place = addend.defined() && is_ours(addend, given, with);
    const at::Tensor input = given.contiguous(kChannelsInnermost);
    const at::Tensor result =
        in_place ? addend : at::empty(sizes.back(), input.options(), kChannelsInnermost);
    if (addend.defined() && !in_place) addend = addend.contiguous(kChannelsInnermost);
    const auto pictures_of = [&](std::int64_t sample) {
      LayerStrips::Pictures pictures;
      pictures.input = input.data_ptr<float>() + to_size(sample) * of.input;
      pictures.result = result.data_ptr<float>() + to_size(sample) * of.result;
      if (addend.defined() && !in_place) {
        pictures.addend = addend.data_ptr<float>() + to_size(sample) * of.result;
      }
      return pictures;
    };
    const std::int64_t batch = sizes[0][0];
    const auto lanes = static_cast<int>(with.lanes.size());
    if (with.by_samples) {
      share(lanes, [&](int number) {
        Lane& lane = with.lanes[to_size(number)];
        const Share own = share_of(batch, lanes, number);
        for (std::int64_t sample = own.begin; sample < own.end; ++sample) {
          run_sample({&lane, 1}, of, pictures_of(sample));
        }
      });
    } else {
      for (std::int64_t sample = 0; sample < batch; ++sample) {
        run_sample(with.lanes, of, pictures_of(sample));
      }
    }
    return result;
  }

  void run_sample(std::span<Lane> lanes, const SampleSizes& of, LayerStrips::Pictures pictures) {
    const auto each_lane = [&](const auto& work) {
      share(static_cast<int>(lanes.size()), [&](int number) { work(lanes[to_size(number)]); });
    };
    if (!gate) return each_lane([&](Lane& lane) { lane.before->run(pictures); });
    const WorkingMemory middle(of.middle * sizeof(float));
    auto* const between = reinterpret_cast<float*>(middle.data());
    each_lane([&](Lane& lane) {
      lane.sums.assign(of.channels, 0.F);
      lane.before->run({pictures.input, between, nullptr, nullptr, lane.sums.data()});
    });
    std::vector<float>& sums = lanes[0].sums;
    for (std::size_t other = 1; other < lanes.size(); ++other) add(lanes[other].sums, sums);
    std::vector<float> factors(of.channels);
    find_factors(sums, of.pixels, factors);
    pictures.input = between;
    pictures.factors = factors.data();
    each_lane([&](Lane& lane) { lane.behind->run(pictures); });
  }

  /// Returns whether the result may be added to what lies in the addend: nobody else needs that,
  /// and no strip reads again what another has written.
  bool is_ours(const at::Tensor& addend, const at::Tensor& input, const PreparedChain& with) const {
    const bool same = addend.is_same(input);
    const auto holders = static_cast<std::size_t>(same ? 2 : 1);
    const bool alone = addend.use_count() == holders && addend.storage().use_count() == 1 &&
                       addend.storage().resizable() && addend.is_contiguous(kChannelsInnermost);
    if (!alone || !same || gate) return alone;
    const Sizes& kernel = spec.layers.front()->weight_sizes();
    return kernel[2] == 1 && (with.by_samples || with.lanes.size() == 1);
  }

  /// Fewer are added before another thread is awake.
  static constexpr std::int64_t kFewNumbers = 30'000;

  const ChainSpec spec;
  const std::optional<std::size_t> strip_bytes;
  std::optional<ChannelGate> gate;
  std::list<PreparedChain> prepared;
};

ConvolutionChain::ConvolutionChain(ChainSpec spec, std::optional<std::size_t> strip_bytes)
    : impl_(std::make_unique<Impl>(std::move(spec), strip_bytes)) {}
ConvolutionChain::~ConvolutionChain() = default;

at::Tensor ConvolutionChain::run(at::Tensor input, at::Tensor addend) {
  return impl_->run(std::move(input), std::move(addend));
}

c10::Symbol convolution_chain_symbol() {
  static const c10::Symbol kSymbol = register_operator(
      "pareto::chain(Tensor input, Tensor? addend, Any packed) -> Tensor",
      [](torch::jit::Stack& stack) {
        const auto holder = torch::jit::pop(stack).toCapsule();
        c10::IValue last = torch::jit::pop(stack);
        at::Tensor addend = last.isNone() ? at::Tensor() : std::move(last).toTensor();
        at::Tensor input = torch::jit::pop(stack).toTensor();
        stack.emplace_back(
            static_cast<ConvolutionChain&>(*holder).run(std::move(input), std::move(addend)));
      },
      c10::AliasAnalysisKind::FROM_SCHEMA);
  return kSymbol;
}

}  // namespace pareto::runtime::kernels
