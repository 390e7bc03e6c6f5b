"""WhatsUp: where things are, of four captions (A, B) or two (COCO-QA, VG-QA), the true one first (Kamath et al., 2023).

As ``dataset_zoo/aro_datasets.py`` of amitakamath/whatsup_vlms at 7c1f255 reads it.
"""

NAME = "whatsup"
LAYOUT = """\
whatsup/{controlled_images_dataset,controlled_clevr_dataset,coco_qa_one_obj,coco_qa_two_obj,vg_qa_one_obj,\
vg_qa_two_obj}.json: the Google Drive folder that github.com/amitakamath/whatsup_vlms links to
images/whatsup/{controlled_images,controlled_clevr}/*.jpeg: controlled_images.tar.gz and controlled_clevr.tar.gz there
images/coco/val2017/<12 digits>.jpg: cocodataset.org
images/vg/<number>.jpg: both parts of Visual Genome's images in one folder, visualgenome.org (or vg_images.tar.gz of
that Drive folder)"""
