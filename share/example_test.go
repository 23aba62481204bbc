package share_test

import (
	"context"
	"fmt"
	"log"

	"github.com/reprise-gpu/reprise"
	"github.com/reprise-gpu/reprise/share"
)

const scalePTX = `.version 6.0
.target sm_60
.address_size 64
.visible .entry double(.param .u64 x)
{
	.reg .f32 %f;
	.reg .b32 %r;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd0, [x];
	mov.u32 %r, %tid.x;
	mul.wide.u32 %rd1, %r, 4;
	add.s64 %rd0, %rd0, %rd1;
	ld.global.f32 %f, [%rd0];
	add.f32 %f, %f, %f;
	st.global.f32 [%rd0], %f;
	ret;
}
`

// A detector has the greatest priority, and a job runs in its gaps.
func Example() {
	dev, err := reprise.Open("sim")
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	record := func(name string, launches int) (*reprise.Trace, reprise.Buffer) {
		t := reprise.Record(dev, name)
		k := t.Module("scale.ptx", scalePTX).Kernel("double")
		x := t.Alloc("x", reprise.F32, 64, reprise.InOut)
		for range launches {
			t.Launch(k, reprise.Linear(1, 64), x)
		}
		trace, err := t.Finish()
		if err != nil {
			log.Fatal(err)
		}
		return trace, x
	}
	urgent, x := record("urgent", 3)
	other, _ := record("other", 20)

	s, err := share.New(dev, share.Fill(share.FillOptions{}))
	if err != nil {
		log.Fatal(err)
	}
	detector, err := s.Program("detector", share.Priority(9), urgent)
	if err != nil {
		log.Fatal(err)
	}
	job, err := s.Program("job", share.Priority(0), other)
	if err != nil {
		log.Fatal(err)
	}
	ones := make([]float32, 64)
	for i := range ones {
		ones[i] = 1
	}
	if err := s.Use(func(reprise.Device) error { return reprise.Write(x, ones) }); err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	ended := make(chan error)
	go func() { ended <- job.Replay(ctx) }()
	fmt.Println("detector:", detector.Replay(ctx), "job:", <-ended)
	if err := s.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println(reprise.Read(ones, x), ones[0])
	// Output:
	// detector: <nil> job: <nil>
	// <nil> 8
}
