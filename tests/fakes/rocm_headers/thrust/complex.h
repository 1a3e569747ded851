// The names of rocThrust's complex numbers that torch's headers need to be parsed: enough to compile device
// code that does not work with them.
#pragma once

namespace thrust {

template <typename T>
struct complex {
  T re, im;
  __host__ __device__ complex(T r = T(), T i = T()) : re(r), im(i) {}
  __host__ __device__ T real() const { return re; }
  __host__ __device__ T imag() const { return im; }
};

template <typename T>
__host__ __device__ complex<T> polar(const T& radius, const T& angle = T());
template <typename T, typename U>
__host__ __device__ complex<T> pow(const T& base, const U& exponent);
template <typename T, typename U>
__host__ __device__ complex<T> pow(const complex<T>& base, const U& exponent);
template <typename T, typename U>
__host__ __device__ complex<U> pow(const T& base, const complex<U>& exponent);

#define DSBUILD_OF_COMPLEX(name) \
  template <typename T>          \
  __host__ __device__ complex<T> name(const complex<T>& z);
DSBUILD_OF_COMPLEX(exp)
DSBUILD_OF_COMPLEX(log)
DSBUILD_OF_COMPLEX(log10)
DSBUILD_OF_COMPLEX(sqrt)
DSBUILD_OF_COMPLEX(sin)
DSBUILD_OF_COMPLEX(cos)
DSBUILD_OF_COMPLEX(tan)
DSBUILD_OF_COMPLEX(asin)
DSBUILD_OF_COMPLEX(acos)
DSBUILD_OF_COMPLEX(atan)
DSBUILD_OF_COMPLEX(sinh)
DSBUILD_OF_COMPLEX(cosh)
DSBUILD_OF_COMPLEX(tanh)
DSBUILD_OF_COMPLEX(asinh)
DSBUILD_OF_COMPLEX(acosh)
DSBUILD_OF_COMPLEX(atanh)
#undef DSBUILD_OF_COMPLEX
template <typename T>
__host__ __device__ T abs(const complex<T>& z);
template <typename T>
__host__ __device__ T arg(const complex<T>& z);

}  // namespace thrust
