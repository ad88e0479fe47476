use super::*;
use std::fs::File;
use std::io::BufReader;

const SIZE: [u32; 2] = [40, 30];

/// A picture of one colour.
fn picture(shade: u8) -> Vec<u8> {
    [shade, 255 - shade, 90, 255].repeat((SIZE[0] * SIZE[1]) as usize)
}

fn recorded(format: Format) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&folder.path().join("film"), format, SIZE, 30.0).unwrap();
    for shade in [0, 100, 200] {
        recorder.push(picture(shade)).unwrap();
    }
    assert_eq!(recorder.progress()[0], 3);
    let path = recorder.finish().unwrap();
    (folder, path)
}

#[test]
fn an_animated_png_holds_every_picture_exactly() {
    let (_folder, path) = recorded(Format::Apng);
    let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames, 3);
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    for shade in [0, 100, 200] {
        reader.next_frame(&mut pixels).unwrap();
        assert_eq!(pixels, picture(shade));
        assert_eq!(reader.info().frame_control.unwrap().delay_num, 33);
    }
    assert!(reader.next_frame(&mut pixels).is_err(), "no fourth");
}

#[test]
fn an_animated_gif_holds_every_picture_in_its_time() {
    let (_folder, path) = recorded(Format::Gif);
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::RGBA);
    let mut decoder = options.read_info(File::open(path).unwrap()).unwrap();
    let mut delays = Vec::new();
    for shade in [0u8, 100, 200] {
        let frame = decoder.read_next_frame().unwrap().unwrap();
        // a picture of one colour needs no more than one of the 256
        assert!(frame.buffer[0].abs_diff(shade) < 4, "{}", frame.buffer[0]);
        delays.push(frame.delay);
    }
    assert!(decoder.read_next_frame().unwrap().is_none());
    // 3.33 hundredths each: what rounding leaves goes to the next
    assert_eq!(delays, [3, 4, 3]);
}

#[test]
fn a_sequence_is_a_folder_of_pictures() {
    let (_folder, path) = recorded(Format::Sequence);
    let mut reader = png::Decoder::new(BufReader::new(File::open(path.join("frame_00002.png")).unwrap()))
        .read_info()
        .unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    assert_eq!([info.width, info.height], SIZE);
    assert_eq!(&pixels[..3], &picture(200)[..3]);
    assert_eq!(std::fs::read_dir(path).unwrap().count(), 3);
}

#[test]
fn a_picture_of_another_size_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&folder.path().join("a"), Format::Apng, SIZE, 30.0).unwrap();
    assert!(recorder.push(vec![0; 8]).unwrap_err().to_string().contains("8 bytes"));
}

#[test]
fn a_film_needs_ffmpeg_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let started = Recorder::start(&folder.path().join("film.mp4"), Format::Mp4, SIZE, 30.0);
    match (Format::Mp4.available(), started) {
        (Ok(()), Ok(mut recorder)) => {
            recorder.push(picture(9)).unwrap();
            let path = recorder.finish().unwrap();
            assert!(std::fs::metadata(path).unwrap().len() > 100);
        }
        (Err(reason), Err(error)) => assert!(error.to_string().contains(&reason)),
        (_, started) => panic!("{:?}", started.map(|_| ())),
    }
}

#[test]
fn pictures_that_are_offered_are_written_if_they_were_taken() {
    let folder = tempfile::tempdir().unwrap();
    let mut recorder = Recorder::start(&folder.path().join("film"), Format::Apng, SIZE, 30.0).unwrap();
    let taken = (0..200).filter(|shade| recorder.offer(picture(*shade)).unwrap()).count();
    assert!(taken >= QUEUE && recorder.progress()[0] == taken, "{taken}");
    assert!(recorder.offer(vec![0; 3]).is_err(), "of another size");
    let path = recorder.finish().unwrap();
    let reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    assert_eq!(reader.info().animation_control.unwrap().num_frames as usize, taken);
}
